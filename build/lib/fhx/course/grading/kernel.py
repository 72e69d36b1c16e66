"""A Jupyter kernel in a sandbox, which does one thing at a time."""

import json
import math
import secrets
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import psutil
import zmq
from jupyter_client.session import Session

from fhx.course.grading.launcher import Launcher, NoKernelError
from fhx.course.grading.sandbox import Sandbox

__all__ = ["LATE", "Kernel", "Lost", "NoKernelError"]

CHANNELS = ("shell", "iopub", "stdin", "control", "hb")
LARGEST = 32_000_000
"""Bytes of a part of a message."""
PENDING = 2**28
"""Bytes that this process may gain while it waits: a message of many parts is only there once its last part is."""
TICK_MS = 200
QUESTION, MOST = 0.01, 3_000
"""Seconds that a kernel takes to ask for a value, which are not the student's, and how often they are granted."""
LATE = "the time of the notebook is used up"
QUESTIONS = 20_000
"""More are not answered."""
PATIENCE = 3
"""How many times longer a limit is for one who waits than for one who computes: the machine is shared."""
CALLEE = "__import__('IPython').get_ipython().kernel.callee"
Answers = Callable[[str], str]


class Lost(BaseException):
    """The kernel did not answer in time, or is gone; not an ``Exception``, so that no oracle's handler catches it.

    Attributes:
        status: ``too slow``, ``crashed``, or ``late`` if the time of the whole notebook is used up.
        reason: in words.
    """

    def __init__(self, status: str, reason: str) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason


class Kernel:
    """A kernel; its output is never read, and what it answers is taken for text.

    Args:
        launcher: makes it.
        end: when nobody waits for it any longer, on the monotonic clock.

    Raises:
        NoKernelError: it does not start.
    """

    def __init__(self, launcher: Launcher, end: float = math.inf) -> None:
        self.limits, self._end = launcher.limits, end
        self.sandbox = Sandbox(launcher)
        self._context = zmq.Context()
        self._session = Session(key=secrets.token_hex(32).encode())
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    def _start(self) -> None:
        shared, inside = self.sandbox.shared, self.sandbox.inside
        ports = {f"{name}_port": number for number, name in enumerate(CHANNELS, 1)}
        told = {"transport": "ipc", "ip": f"{inside}/s", "key": self._session.key.decode(), **ports}
        (shared / "c.json").touch(0o600)
        (shared / "c.json").write_text(json.dumps(told | {"signature_scheme": "hmac-sha256"}))
        self.sandbox.start()
        self._sockets = {name: self._socket(shared / f"s-{ports[f'{name}_port']}") for name in ("shell", "stdin")}
        try:
            self._reply(self._send("kernel_info_request", {}), self.limits.startup, None, math.inf)
        except Lost as lost:
            raise NoKernelError(f"no kernel started: {lost.reason}\n{self.sandbox.log()}") from lost
        self.sandbox.shut()

    def _socket(self, path: Path) -> zmq.Socket[bytes]:
        socket = self._context.socket(zmq.DEALER)
        socket.linger = 0
        socket.identity = self._session.bsession
        socket.setsockopt(zmq.MAXMSGSIZE, LARGEST)
        socket.setsockopt(zmq.RCVHWM, 8)
        socket.setsockopt(zmq.SNDTIMEO, 2000)
        socket.setsockopt(zmq.RECONNECT_IVL, 20)
        socket.setsockopt(zmq.RECONNECT_IVL_MAX, 20)
        socket.connect(f"ipc://{path}")
        return socket

    def run(self, source: str, seconds: float) -> tuple[str, str] | None:
        """Run a cell; the name of the error that it raised and what that says, if it did.

        Raises:
            Lost: no answer in time, or the kernel is gone.
        """
        request = {"code": source, "silent": False, "store_history": False, "allow_stdin": False}
        content = self._execute(request, seconds, None)
        if content.get("status") == "ok":
            return None
        return str(content.get("ename"))[:200], str(content.get("evalue"))[:500]

    def ask(
        self, function: str, arguments: Sequence[Any], seconds: float, answers: Answers | None = None
    ) -> str | None:
        """The text that a method of :class:`fhx.course.grading.inside.Callee` gives; None if it gives none.

        Args:
            function: its name.
            arguments: strings and numbers.
            seconds: time limit.
            answers: says what to answer when the kernel asks back.

        Raises:
            Lost: no answer in time, or the kernel is gone.
        """
        expression = f"{CALLEE}.{function}({', '.join(map(repr, arguments))})"
        request = {"code": "", "silent": True, "store_history": False, "user_expressions": {"it": expression}}
        content = self._execute(request, seconds, answers)
        try:
            text = content["user_expressions"]["it"]["data"]["text/plain"]
        except (KeyError, TypeError):
            return None
        return text if isinstance(text, str) else None

    def close(self) -> None:
        """End it and all that it started."""
        self.sandbox.__exit__()
        self._context.destroy(linger=0)

    def _execute(self, content: dict[str, Any], seconds: float, answers: Answers | None) -> dict[str, Any]:
        content = {"user_expressions": {}, "stop_on_error": False, "allow_stdin": True} | content
        try:
            return self._reply(self._send("execute_request", content), seconds, answers, self._end)
        except zmq.Again:
            self.sandbox.close()
            raise Lost("crashed", "its kernel takes no messages") from None

    def _send(self, kind: str, content: dict[str, Any]) -> str:
        """Send a request, and return its id."""
        request = self._session.msg(kind, content)
        self._session.send(self._sockets["shell"], request)
        return request["header"]["msg_id"]

    def _reply(self, request: str, seconds: float, answers: Answers | None, end: float) -> dict[str, Any]:
        """The content of the reply to a request, within these seconds of computing, or a few times as many of waiting.

        The time that ``answers`` takes does not count.
        """
        poller = zmq.Poller()
        for socket in self._sockets.values():
            poller.register(socket, zmq.POLLIN)
        shell, stdin = self._sockets["shell"], self._sockets["stdin"]
        deadline, look, worked = time.monotonic() + PATIENCE * seconds, time.monotonic() + TICK_MS / 1000, None
        asked, held = 0, _held()
        while time.monotonic() < min(deadline, end):
            ready = dict(poller.poll(TICK_MS))
            if time.monotonic() >= look:
                if (reason := self.sandbox.ended()) is not None:
                    raise Lost("crashed", reason)
                if _held() - held > PENDING:
                    self.close()  # and with the sockets what they hold
                    raise Lost("crashed", f"it sent a message of more than {PENDING // 2**20} MiB")
                worked = self.sandbox.seconds() if worked is None else worked
                if self.sandbox.seconds() - worked > seconds + QUESTION * min(asked, MOST):
                    break
                look = time.monotonic() + TICK_MS / 1000
            if stdin in ready and (message := self._receive(stdin)) and message["msg_type"] == "input_request":
                began = time.monotonic()
                prompt = message["content"].get("prompt")
                text = answers(prompt) if answers is not None and isinstance(prompt, str) else ""
                self._session.send(stdin, "input_reply", {"value": text}, parent=message)
                deadline += time.monotonic() - began
                asked += 1
                if asked > QUESTIONS:
                    break
            message = self._receive(shell) if shell in ready else None
            if message and message["parent_header"].get("msg_id") == request:
                return message["content"]
        self.sandbox.close()
        raise Lost("too slow", f"no answer within {seconds:g} s") if time.monotonic() < end else Lost("late", LATE)

    def _receive(self, socket: zmq.Socket[bytes]) -> dict[str, Any] | None:
        """A message; None for anything that is not one."""
        try:
            _, message = self._session.recv(socket, mode=zmq.NOBLOCK)
            known = message is not None and all(
                isinstance(message[part], dict) for part in ("content", "parent_header")
            )
        except Exception:  # whatever a kernel may send
            return None
        return message if known else None


def _held() -> int:
    """Bytes that this process holds."""
    return psutil.Process().memory_info().rss
