"""Type hints and documentation."""

import inspect
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import framebus

PACKAGE = Path(framebus.__file__).parent

try:
    import mypy  # noqa: F401

    has_mypy = True
except ImportError:
    has_mypy = False


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = dict(os.environ)
    if PACKAGE.parent.name != "site-packages":
        environment["MYPYPATH"] = str(PACKAGE.parent)
    return subprocess.run(
        [sys.executable, "-m", *arguments], capture_output=True, text=True, env=environment
    )


class TypeTests(unittest.TestCase):
    def test_every_public_name_is_documented(self) -> None:
        for name in framebus.__all__:
            item = getattr(framebus, name)
            if not inspect.isclass(item):
                continue
            self.assertTrue(item.__doc__, name)
            for member, value in vars(item).items():
                if member.startswith("_") or not hasattr(value, "__doc__"):
                    continue
                self.assertTrue(value.__doc__, f"{name}.{member}")

    @unittest.skipUnless(has_mypy, "mypy is not installed")
    def test_package_is_clean_under_strict_mypy(self) -> None:
        with tempfile.TemporaryDirectory() as cache:
            result = run("mypy", "--strict", "--cache-dir", cache, "-p", "framebus")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    @unittest.skipUnless(has_mypy, "mypy is not installed")
    def test_stub_matches_the_extension(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            allowed = Path(folder, "allowed")
            # The buffer protocol has this name from Python 3.12 on; the stub's base is its own.
            allowed.write_text(
                r"framebus\._native\.(_Array|Plane|Frame|Loan|Secret|_Kind|_Range|_Samples|_Content"
                r"|_Policy|_Start|_End|_Pause|_Wait|_Level|_Value|_Fallback|_Rate|_Rect)(\.__buffer__)?" + "\n"
            )
            result = run(
                "mypy.stubtest", "framebus._native", "--allowlist", str(allowed),
                "--ignore-unused-allowlist",
            )
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)


if __name__ == "__main__":
    unittest.main()
