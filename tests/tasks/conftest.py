"""Where the tests find the real data files, and a local server for those that download."""

import os
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent)]
SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


@pytest.fixture
def real_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let loaders find the real files: FHX_DATA, else the folder beside the repository, else the download."""
    if not os.environ.get("FHX_DATA") and SHARED.is_dir():
        monkeypatch.setenv("FHX_DATA", str(SHARED))


class Server(ThreadingHTTPServer):
    """Answers each request as the next entry of ``script`` says; the last entry goes on for ever."""

    daemon_threads = True

    def __init__(self, body: bytes) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.body, self.script, self.requests = body, ["good"], 0
        self.half_sent, self.go_on = threading.Event(), threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/file.bin"

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is part of the plan."""


class Answer(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        server = self.server
        action = server.script[min(server.requests, len(server.script) - 1)]
        server.requests += 1
        if action.isdigit():
            self.send_error(int(action))
            return
        body = server.body if action != "wrong" else server.body[::-1]
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2])
        if action == "truncated":
            return  # the connection closes with half of the body missing
        if action == "stalled":
            server.half_sent.set()
            server.go_on.wait(60)
        self.wfile.write(body[len(body) // 2 :])

    def log_message(self, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("FHX_DATA", raising=False)
    server = Server(bytes(range(251)) * 1500)  # 376,500 bytes: several chunks, and not a palindrome
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield server
    server.go_on.set()
    server.shutdown()
    thread.join()
    server.server_close()
