"""The tree keeps its shape: the top level, short modules, small files, tests that can fail."""

import ast
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOP = {"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile", "pyproject.toml", "constraints.txt"}
TOP |= {"environment.yml", "_config.yml", "_toc.yml", "LICENSE", "CITATION.cff", ".gitignore", ".ci", ".github"}
TOP |= {"setup.py", "MANIFEST.in", ".gitattributes", ".git_archival.txt", "SECURITY.md"}
TOP |= {".devcontainer", ".pre-commit-config.yaml"}
TOP |= {"book", "notebooks", "src", "tests", "benchmarks", "results"}
MODULES = sorted((ROOT / "src").rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("test_*.py"))
MAX_LINES, MAX_BYTES = 300, 1_000_000


def tracked() -> list[Path]:
    """The files that git knows; none where there is no git."""
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    return [Path(name) for name in done.stdout.split("\0") if name] if done.returncode == 0 else []


def names_called(tree: ast.AST) -> set[str]:
    """The names of all functions that are called or passed on."""
    return {getattr(node, "attr", getattr(node, "id", "")) for node in ast.walk(tree)}


def asserts(tree: ast.AST, helpers: set[str]) -> bool:
    """Whether some code asserts, expects an error, or uses a helper that does."""
    if any(isinstance(node, ast.Assert) for node in ast.walk(tree)):
        return True
    names = names_called(tree)
    return bool(names & helpers) or any(name.startswith(("assert_", "raises", "warns", "fail")) for name in names)


def idle(source: str) -> list[str]:
    """The tests of a module that can only pass."""
    tree, helpers = ast.parse(source), set()
    named = [(node.name, node) for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    named += [
        (node.targets[0].id, node.value)
        for node in tree.body
        if isinstance(node, ast.Assign)
        if isinstance(node.targets[0], ast.Name)
    ]
    while fresh := {name for name, node in named if name not in helpers and asserts(node, helpers)}:
        helpers |= fresh
    return [name for name, _ in named if name.startswith("test_") and name not in helpers]


def test_top_level_is_the_one_that_was_agreed() -> None:
    assert {path.parts[0] for path in tracked()} <= TOP


def test_no_tracked_file_is_large() -> None:
    present = [path for path in tracked() if (ROOT / path).exists()]
    assert [str(path) for path in present if (ROOT / path).stat().st_size >= MAX_BYTES] == []


def test_modules_are_short_and_say_what_they_are() -> None:
    sources = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in MODULES}
    assert [name for name, source in sources.items() if len(source.splitlines()) > MAX_LINES] == []
    assert [name for name, source in sources.items() if not ast.get_docstring(ast.parse(source))] == []


def test_every_test_can_fail() -> None:
    assert [f"{path}::{name}" for path in TESTS for name in idle(path.read_text(encoding="utf-8"))] == []


def test_test_without_an_assertion_is_found() -> None:
    good = "def test_a():\n    assert f()\n\ndef test_b():\n    with pytest.raises(ValueError):\n        f()\n"
    assert idle(good) == []
    assert idle(good + "\ndef test_c():\n    f()\n") == ["test_c"]
    assert idle(good + "\ndef test_c():\n    helper()\n\ndef helper():\n    assert f()\n") == []
