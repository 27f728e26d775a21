"""Runs the tests, and prints a line for each as `swift test` does, so that scripts/test counts it.

    run.py [PATTERN]      PATTERN: of the files, test_*.py by default
"""

import sys
import time
import unittest
from pathlib import Path


class Result(unittest.TestResult):
    """Prints the outcome of each test."""

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self.began = time.monotonic()

    def tell(self, mark: str, test: unittest.TestCase, outcome: str) -> None:
        seconds = time.monotonic() - self.began
        print(f"{mark} Test {test.id()} {outcome} after {seconds:.3f} seconds.", flush=True)

    def fail(self, test: unittest.TestCase, error: object) -> None:
        self.tell("✘", test, "failed")
        text = self._exc_info_to_string(error, test)  # type: ignore[attr-defined]
        print("".join(f"↳ {line}\n" for line in text.splitlines()), flush=True)

    def addSuccess(self, test: unittest.TestCase) -> None:
        super().addSuccess(test)
        self.tell("✔", test, "passed")

    def addError(self, test: unittest.TestCase, error: object) -> None:
        super().addError(test, error)  # type: ignore[arg-type]
        self.fail(test, error)

    def addFailure(self, test: unittest.TestCase, error: object) -> None:
        super().addFailure(test, error)  # type: ignore[arg-type]
        self.fail(test, error)

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, error: object) -> None:
        super().addSubTest(test, subtest, error)  # type: ignore[arg-type]
        if error:
            self.fail(subtest, error)

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        super().addSkip(test, reason)
        print(f"➜ Test {test.id()} skipped: {reason}", flush=True)


def main() -> int:
    pattern = sys.argv[1] if len(sys.argv) > 1 else "test_*.py"
    suite = unittest.defaultTestLoader.discover(str(Path(__file__).parent), pattern)
    result = Result()
    suite.run(result)
    print(f"  Test run with {result.testsRun} tests, {len(result.skipped)} skipped")
    return 0 if result.wasSuccessful() and result.testsRun else 1


if __name__ == "__main__":
    sys.exit(main())
