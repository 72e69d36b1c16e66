"""What is handed in: good work, mistakes, and attempts on the grader. Each comes with what it deserves."""

import base64
import json
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path

from submitted import NOTEBOOKS, Cells, answered, chapter, code, solutions, text

from fhx.course.grading.launcher import Limits
from fhx.exercises import EXERCISES

__all__ = ["DESERVED", "LIMITS", "MARKER", "ON_ALL", "SECRET", "SLEEP", "TRIED", "many_processes", "submissions"]

LONG = "x" * 240
LIMITS = Limits(memory=3 * 2**29, slack=0.5, cell=6.0)
MARKER, SECRET, SLEEP = "recurrence-test-marker", "the-private-note", "86399.25"
EXERCISE_IDS = [name for name in EXERCISES if name.startswith("03")]
IMPORTS = "from fractions import Fraction\nfrom itertools import product"
COUNT, HAT, START, CERTIFICATE = "03-count-states", "03-hat", "03-real-start", "03-certificate"
ANSWERED_OTHERWISE = {COUNT, HAT, "03-second-last", "03-threshold", "03-distinguish", "03-pair-net"}
TRIED = tuple(name for name in EXERCISE_IDS if name in ANSWERED_OTHERWISE)
"""What the batch is graded on. All other exercises take as long, and no submission answers one in a way of its own."""


def light(changed: dict[str, str] | None = None, *more: str) -> Cells:
    """Right answers, some of them changed, in cells without the rest of the chapter, and more cells behind them."""
    answers = solutions() | (changed or {})
    return [code(source) for source in (IMPORTS, *answers.values(), *more)]


def instead(function: str, body: str) -> str:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return f"def {function}:\n{lines}"


def renamed(exercise: str) -> str:
    """The right answer under another name, for a function that has it behind it."""
    return solutions()[exercise].replace(f"def {EXERCISES[exercise].function}(", "def right(") + "\n\n"


STATES, HATS = "count_states(W, U, b, h0)", "hats(n)"
"""Of exercises 03-count-states and 03-hat."""


def public_only() -> Cells:
    body = "known = {1: ([[]], [1]), 2: ([[-1], [1]], [1, 0])}\nif n > 5:\n    return [[0] * (n - 1)] * n, [0] * n\n"
    return light({HAT: renamed(HAT) + instead(HATS, body + "return right(n)")})


def loop_in_function() -> Cells:
    return light({COUNT: instead(STATES, "while True:\n    pass")})


def loop_in_cell() -> Cells:
    own = solutions()["03-second-last"] + "\n\nwhile True:\n    pass"
    return [code("import time"), code("while True:\n    pass"), *light({"03-second-last": own})]


def syntax_error() -> Cells:
    return light({COUNT: "def count_states(W, U, b, h0:\n    return 1"})


def exits() -> Cells:
    return light({COUNT: instead(STATES, "import os\nos._exit(0)"), HAT: f"import os\nos._exit(1)\n{solutions()[HAT]}"})


def fork_bomb() -> Cells:
    bomb = "import os, time\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass"
    return light({COUNT: instead(STATES, bomb)})


def much_memory() -> Cells:
    return light({COUNT: instead(STATES, "return len(bytearray(60 * 2**30))")})


def many_small_pieces() -> Cells:
    body = "import numpy as np\nkept = []\nwhile True:\n    kept.append(np.zeros(2**21))"  # no page of it is touched
    return light({COUNT: instead(STATES, body)})


def many_processes() -> Cells:
    """Five that each hold a fifth of what all of them may."""
    body = "import os, time\nfor _ in range(5):\n    if os.fork() == 0:\n        kept = b'x' * (300 * 2**20)\n"
    return light({COUNT: instead(STATES, body + "        time.sleep(60)\ntime.sleep(60)")})


def three_million_lines() -> Cells:
    return light({COUNT: solutions()[COUNT] + "\n\nfor i in range(3_000_000):\n    print('a line of output', i)"})


def outside(folder: Path) -> Cells:
    """It answers right only if it can read what it must not, and tries to write everywhere."""
    found = [folder / "private" / "note.txt", folder / "submissions" / "good.ipynb", folder / "out" / "records"]
    found += [NOTEBOOKS / "03-automata-in-integer-weights.ipynb", Path(__file__), Path("/etc/shadow"), Path("/root")]
    import fhx.exercises.chapter_03 as oracles

    found += [Path(oracles.__file__), Path(oracles.__file__).parents[1] / "course" / "grading" / "judge.py"]
    body = f"""\
import os, glob
for path in {[str(path) for path in found]!r}:
    try:
        content = os.listdir(path) if os.path.isdir(path) else open(path).read()
    except OSError:
        continue
    if content and content != [".pyenv"]:
        return right(W, U, b, h0)
if [n for n in os.listdir("/proc") if n.isdigit() and "pytest" in open(f"/proc/{{n}}/cmdline").read()]:
    return right(W, U, b, h0)
for place in ("/tmp", "/var/tmp", "/dev/shm", os.getcwd(), "/", {str(folder)!r}, {str(folder / "out")!r}, "/run/k"):
    try:
        open(os.path.join(place, {MARKER!r}), "w").write("was here")
    except OSError:
        pass
return -1"""
    return light({COUNT: renamed(COUNT) + instead(STATES, body)})


def network(port: int) -> Cells:
    body = f"""\
import socket
for address in (("127.0.0.1", {port}), ("1.1.1.1", 53), ("example.org", 80)):
    try:
        socket.create_connection(address, timeout=0.3).close()
    except OSError:
        continue
    return right(W, U, b, h0)
return -1"""
    return light({COUNT: renamed(COUNT) + instead(STATES, body)})


def refused_calls() -> Cells:
    """It answers right only if it gets memory that is not counted, or namespaces; threads and processes it gets."""
    body = """\
import ctypes, os, subprocess, threading
libc = ctypes.CDLL(None)
got = [libc.shmget(0, 4096, 0o1600), libc.unshare(0x10000000), libc.unshare(0x20000), libc.ptrace(0, 0, 0, 0)]
try:
    got.append(os.memfd_create("kept"))
except OSError:
    pass
thread = threading.Thread(target=subprocess.run, args=(["true"],))
thread.start()
thread.join()
return right(W, U, b, h0) if max(got) >= 0 else -1"""
    return light({COUNT: renamed(COUNT) + instead(STATES, body)})


def asks_and_does_not_listen() -> Cells:
    body = """\
from IPython import get_ipython
kernel = get_ipython().kernel
question, parent = {"prompt": "x" * 9999}, kernel.get_parent("shell")
while True:
    kernel.session.send(kernel.stdin_socket, "input_request", question, parent=parent)"""
    return light({COUNT: instead(STATES, body)})


def message_of_many_parts() -> Cells:
    """Each is short enough, and all together they are 40 GB."""
    body = """\
import time
from IPython import get_ipython
kernel, part = get_ipython().kernel, bytes(20_000_000)
kernel.stdin_socket.send_multipart([kernel._parent_ident["shell"][0], *[part] * 2000], copy=False)
while True:
    time.sleep(1)"""
    return light({COUNT: instead(STATES, body)})


def half_character() -> Cells:
    return light({HAT: instead(HATS, "raise ValueError('\\ud800' + '&' * 10**7)")}, "x = '\ud800'")


def leaves_things_running() -> Cells:
    body = f"""\
import os, subprocess, threading, time
subprocess.Popen(["sleep", "{SLEEP}"], start_new_session=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execvp("sleep", ["sleep", "{SLEEP}"])
    os._exit(0)
threading.Timer(0.6, os._exit, [0]).start()
return -1"""
    return light({COUNT: instead(STATES, body)})


FORGERY = """\
import builtins, json, operator, sys
import IPython
from IPython import get_ipython
shell = get_ipython()
class Yes:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __bool__(self): return True
    def __hash__(self): return 0
    def __repr__(self): return "True"
forged = json.dumps({"value": "true", "status": "ok", "score": 100, "ok": True, "passed": True})
class Reply:
    def _repr_mimebundle_(self, **_): return {"text/plain": forged}
builtins.print = lambda *a, **k: sys.__stdout__.write(forged)
for name in ("eq", "ne", "lt", "le", "gt", "ge", "is_", "contains"):
    setattr(operator, name, lambda *a: True)
from fhx.exercises import EXERCISES, check
import fhx.course.grading.inside as inside, fhx.course.grading.wire as wire
inside.Callee.call = lambda *a: Reply()
shell.kernel.callee.call = lambda *a: Reply()
inside.dumps = lambda *a: "true"
wire.dumps = lambda *a: "true"
try:
    EXERCISES["03-hat"].oracle = lambda *a: True
except Exception:
    pass
shell.user_expressions = lambda e: {k: {"status": "ok", "data": {"text/plain": forged}, "metadata": {}} for k in e}
shell.ast_transformers.append(Yes())
shell.display_formatter.format = lambda *a, **k: ({"text/plain": forged}, {})
shell.events.register("pre_execute", lambda *a: None)
"""


FORGERY_OF_JSON = """
builtins.isinstance = lambda *a: True
builtins.abs = lambda *a: 0
builtins.all = builtins.any = lambda *a: True
json.dumps = lambda *a, **k: forged
json.loads = lambda *a, **k: {"value": "true"}
"""


def forged() -> Cells:
    """Blank answers, and two of them patch whatever they can reach; the second one JSON too."""
    cells = {
        cell["source"].split("(")[0]: cell["source"] for cell in chapter() if "hole" in cell["metadata"].get("tags", [])
    }
    first, second, *others = cells.values()
    return [
        code(FORGERY + first),
        code(FORGERY + FORGERY_OF_JSON + second),
        *map(code, [f"from fhx.exercises import check\n{IMPORTS}", *others]),
    ]


EQUAL = """\
class Equal(int):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return 0
    def __abs__(self): return 0
    def __sub__(self, other): return 0
    __rsub__ = __sub__
    __class__ = bool
class Anything:
    def __getattr__(self, name): return self
    def __call__(self, *a): return self
    def __eq__(self, other): return True
    def __iter__(self): return iter([True] * 6)
    def __len__(self): return 6
    def __bool__(self): return True
    def __hash__(self): return 0
"""


def always_equal() -> Cells:
    answers = {
        name: EQUAL + instead(EXERCISES[name].signature, f"return {'Equal()' if i % 2 else 'Anything()'}")
        for i, name in enumerate(EXERCISE_IDS)
    }
    return light(answers)


def duplicated() -> Cells:
    """All cells twice; between them a wrong answer, which does not count."""
    cells = light()
    return [*cells, code(instead(HATS, "return 1, 2")), *cells]


def shadowed() -> Cells:
    """Names of Python used for something else, and an answer spread over cells, one of them magic."""
    spread = ["table = {}", "%%time\ntable[0] = 1", "def helper(x):\n    return x * table[0]"]
    answer = solutions()[COUNT].replace("return len(found)", "return helper(sum(1 for _ in found))")
    made = ["exec('def hidden(n):\\n    return right(n)')", renamed(HAT)]
    made += [instead(HATS, "return hidden(n)")]
    names = "json = print = open = 3\nlist_ = list\nself = this = None\ndict = {}"
    return [code(names), *map(code, spread), *light({COUNT: answer, HAT: made[1]}), *map(code, (made[0], made[2]))]


def calls_package() -> Cells:
    body = "return helper(left, right)"
    helper = "def helper(left, right):\n    return left.equivalent(right).word\n"
    compiled = "from fhx.compile import dfa_to_rnn\n" + instead(
        "pair_net(dfa)",
        "net = dfa_to_rnn(dfa)\nrnn = net.rnn\n"
        "return rnn.W.dense(), rnn.U.dense(), list(rnn.b), list(rnn.h0), list(net.w), net.c",
    )
    return light(
        {"03-distinguish": helper + instead("shortest_difference(left, right)", body), "03-pair-net": compiled}
    )


def bomb() -> bytes:
    """Outputs of 40 MB, and a picture of 64 MB, packed."""
    cells = light()
    picture = base64.b64encode(zlib.compress(bytes(2**26), 9)).decode()
    output = {"output_type": "display_data", "metadata": {}, "data": {"image/png": picture}}
    stream = {"output_type": "stream", "name": "stdout", "text": "0" * 40_000_000}
    cells[3] = cells[3] | {"outputs": [output, stream]}
    return text(cells).encode()


@cache
def submissions(folder: Path, port: int) -> dict[str, bytes]:
    """Files by name."""
    good = text(answered(solutions()))
    bare = [{"cell_type": cell["cell_type"], "source": cell["source"]} for cell in answered(solutions())]
    unchecked = [cell | {"source": cell["source"].split("\ncheck(")[0]} for cell in bare]
    made: dict[str, Callable[[], Cells]] = {
        "public_only": public_only,
        "loop_in_function": loop_in_function,
        "loop_in_cell": loop_in_cell,
        "syntax_error": syntax_error,
        "exits": exits,
        "fork_bomb": fork_bomb,
        "much_memory": much_memory,
        "many_small_pieces": many_small_pieces,
        "three_million_lines": three_million_lines,
        "outside": lambda: outside(folder),
        "network": lambda: network(port),
        "refused_calls": refused_calls,
        "asks_and_does_not_listen": asks_and_does_not_listen,
        "half_character": half_character,
        "leaves_things_running": leaves_things_running,
        "forged": forged,
        "always_equal": always_equal,
        "duplicated": duplicated,
        "shadowed": shadowed,
        "calls_package": calls_package,
        "checks_deleted": lambda: unchecked,
    }
    files = {name: text(cells()).encode() for name, cells in made.items()}
    files |= {"good": good.encode(), "blank": text(chapter()).encode(), "bomb": bomb()}
    files |= {"truncated": good[: len(good) // 2].encode(), "empty": b"", "M\udcfcller": b"", LONG: b""}
    stripped = json.dumps({"cells": [{**cell, "source": cell["source"].splitlines(True)} for cell in bare]})
    return files | {"Zoë/my homework (1)": stripped.encode()}


ALL = dict.fromkeys
DESERVED: dict[str, dict[str, str]] = {
    "good": {},
    "blank": ALL(TRIED, "not attempted"),
    "public_only": {HAT: "wrong"},
    "loop_in_function": {COUNT: "timeout"},
    "loop_in_cell": {"03-second-last": "timeout"},
    "syntax_error": {COUNT: "wrong"},
    "exits": {COUNT: "crashed", HAT: "crashed"},
    "fork_bomb": {COUNT: "timeout"},
    "much_memory": {COUNT: "crashed"},
    "many_small_pieces": {COUNT: "crashed"},
    "three_million_lines": {},
    "outside": {COUNT: "wrong"},
    "network": {COUNT: "wrong"},
    "refused_calls": {COUNT: "wrong"},
    "asks_and_does_not_listen": {COUNT: "spoilt"},
    "half_character": {HAT: "wrong"},
    "leaves_things_running": {COUNT: "wrong"},
    "forged": ALL(TRIED, "not attempted") | {"03-second-last": "spoilt", "03-threshold": "spoilt"},
    "always_equal": ALL(TRIED, "wrong"),
    "duplicated": {},
    "shadowed": {HAT: "look at this"},  # exec may hide anything
    "calls_package": {"03-distinguish": "look at this", "03-pair-net": "look at this"},
    "checks_deleted": {},
    "bomb": {},
    "truncated": ALL(TRIED, "invalid file"),
    "empty": ALL(TRIED, "invalid file"),
    "M\\udcfcller": ALL(TRIED, "invalid file"),
    LONG: ALL(TRIED, "invalid file"),
    "huge": ALL(TRIED, "invalid file"),
    "Zoë": {},
}
"""What each gets that is not ``ok``; spoilt is wrong, crashed or out of time, as it happens."""
ON_ALL: dict[str, dict[str, str]] = {
    "good": {},
    "forged": ALL(EXERCISE_IDS, "not attempted") | DESERVED["forged"],
    "always_equal": ALL(EXERCISE_IDS, "wrong"),
}
"""What those get on all exercises of the chapter that answer each of them in a way of its own."""
