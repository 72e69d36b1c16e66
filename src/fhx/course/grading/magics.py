"""What magic commands have become, and a few other calls, as plain code: so that nothing in a cell is passed over."""

import ast
import re
from collections.abc import Iterator

from IPython.core.inputtransformer2 import TransformerManager

__all__ = ["plain_tree"]

TIMERS = ("prun", "time", "timeit")
"""Magic commands that run the code behind them, and expand nothing in it; as those of cells also what stands below."""
OPTIONS = re.compile(r"\s*(--?\w[\w-]*\s+(\d+\s+)?)*")
HARMLESS = (
    *("autoreload", "cd", "colors", "lsmagic", "matplotlib", "pdoc", "pfile", "pinfo", "pinfo2", "precision"),
    *("psource", "pwd", "quickref", "who", "who_ls", "whos", "xmode"),
)
"""Those that run nothing of the notebook, if nothing in them is expanded."""
TEXTS = ("HTML", "html", "javascript", "js", "latex", "markdown", "svg")
"""Those of cells that only show what stands below."""
SHELL = re.compile(r"\s*(conda|date|df|du|echo|free|ls|lscpu|nvidia-smi|pip3?|pwd|uname|wc|which)\b[^;|&`$(){}\n]*")
"""Lines of a shell that change no file of the notebook's, but where output is sent."""
SETTING = re.compile(r"\s*\w+(\.\w+)*\s*(=(?P<value>[^$]*))?")


def plain_tree(source: str) -> ast.Module | None:
    """A cell as IPython hands it to Python, with the code that its magic commands run; None if it is not Python.

    A command stays as it is, a call of ``get_ipython()``, unless all that it does is known.

    Raises:
        RecursionError: it is too deep to be followed.
    """
    magics = _Magics()
    try:
        parsed = ast.parse(source)
    except (SyntaxError, ValueError):
        return None
    tree = magics.visit(parsed)
    tree.body += magics.found
    return tree


class _Magics(ast.NodeTransformer):
    """Takes the calls away that magic commands have become, and keeps the code that they run.

    Attributes:
        found: the statements of ``%time`` and the like.
    """

    def __init__(self) -> None:
        self.found: list[ast.stmt] = []

    def visit_Call(self, node: ast.Call) -> ast.AST:
        match node:
            case ast.Call(ast.Attribute(ast.Call(ast.Name("get_ipython"), [], []), name), arguments, []):
                words = [part.value for part in arguments if isinstance(part, ast.Constant)]
                if len(words) == len(arguments) and self._is_known(name, [str(word) for word in words]):
                    return ast.Constant(None)
            case ast.Call(ast.Name("getattr"), [of, ast.Constant(str(name)), *default], []) if name.isidentifier():
                return self.generic_visit(ast.Tuple([ast.Attribute(of, name, ast.Load()), *default], ast.Load()))
        return self.generic_visit(node)

    def _is_known(self, method: str, words: list[str]) -> bool:
        """Whether all is known that a call of the shell does; code that it runs is found."""
        match method, words:
            case (("system" | "getoutput"), [line]):
                return _is_known_shell(line)
            case "run_line_magic", [name, line]:
                return self._is_known_line(name, line)
            case "run_cell_magic", [name, line, body] if name in TEXTS:
                return not _is_expanded(line)
            case "run_cell_magic", ["capture", line, body]:
                return not _is_expanded(line) and self._runs(body)
            case "run_cell_magic", [name, line, body] if name in TIMERS:
                return self._runs(OPTIONS.sub("", line + " ", count=1)) and self._runs(body)
        return False

    def _is_known_line(self, name: str, line: str) -> bool:
        if name in TIMERS:
            return self._runs(OPTIONS.sub("", line + " ", count=1))
        if name == "config" and (found := SETTING.fullmatch(line)):
            return found["value"] is None or _is_literal(found["value"].strip())
        if name in ("load_ext", "reload_ext"):  # a file of the notebook may have that name
            return line.strip() == "autoreload" and self._runs("import autoreload")
        if name in ("conda", "ls", "pip"):  # which are lines of a shell
            return _is_known_shell(f"{name} {line}")
        return name in HARMLESS and not _is_expanded(line)

    def _runs(self, text: str) -> bool:
        """Whether a text is Python; then its statements are found."""
        try:
            body = ast.parse(TransformerManager().transform_cell(text)).body
        except (SyntaxError, ValueError):
            return False
        for statement in body:
            self.found += _statements(self.visit(statement))
        return True


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    if isinstance(node, ast.stmt):
        yield node


def _is_known_shell(line: str) -> bool:
    """Whether a line of a shell changes no file of the notebook's; what pip says may go anywhere."""
    return bool(SHELL.fullmatch(line)) and (">" not in line or line.split()[0] in ("conda", "pip", "pip3"))


def _is_expanded(line: str) -> bool:
    """Whether IPython may put the value of an expression into a line."""
    return "{" in line or "$" in line


def _is_literal(text: str) -> bool:
    """Whether a text is a value, in which nothing is worked out, and nothing is expanded that is not one."""
    try:
        value = ast.literal_eval(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return "{" not in text or (isinstance(value, dict) and text.count("{") == 1)
