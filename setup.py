"""What ``pyproject.toml`` cannot say: the stored results of long runs, a folder beside ``src``, are in the wheel."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithResults(build_py):
    """Puts ``results/*.json`` into the package; an editable install finds them in the clone."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            target = Path(self.build_lib, "fhx", "results")
            self.mkpath(str(target))
            for path in sorted(Path(__file__).with_name("results").glob("*.json")):
                self.copy_file(str(path), str(target))


setup(cmdclass={"build_py": BuildWithResults})
