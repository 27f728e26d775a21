"""The programs of examples/python, and the README's."""

import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

from support import BusTest, needs_numpy, numpy

REPOSITORY = Path(__file__).parents[2]
EXAMPLES = REPOSITORY / "examples" / "python"

try:
    import cv2
except ImportError:
    cv2 = None


try:
    import torch
except ImportError:
    torch = None


class ExampleTests(BusTest):
    def example(self, name: str, *arguments: str) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [sys.executable, EXAMPLES / name, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=os.environ | {"FRAMEBUS_HOME": self.root},
        )
        self.addCleanup(self.end, process)
        return process

    def watch(self, name: str, *arguments: str) -> str:
        """The first line that an example prints about the frames of paint.py."""
        watcher = self.example(name, *arguments)
        self.example("paint.py")
        return self.line_of(watcher)

    @needs_numpy
    def test_numpy_publisher_and_subscriber(self) -> None:
        self.assertRegex(self.watch("count.py"), r"^frame \d+, \(360, 640, 4\): \d+\.\d$")

    @unittest.skipUnless(cv2, "OpenCV is not installed (python3-opencv)")
    def test_opencv_finds_the_moving_square(self) -> None:
        line = self.watch("motion.py", "canvas")
        size = re.fullmatch(r"frame \d+: (\d+)x(\d+)\+\d+\+(\d+)", line)
        assert size, line
        self.assertEqual(size.groups()[1:], ("100", "100"))

    @unittest.skipUnless(
        numpy and numpy.lib.NumpyVersion(numpy.__version__) >= "2.1.0",
        "numpy 2.1 or newer is not installed",
    )
    def test_tensors_by_dlpack(self) -> None:
        self.assertRegex(self.watch("tensor.py"), r"^frame \d+: mean \[")

    @unittest.skipUnless(torch, "PyTorch is not installed (apt-get install python3-torch)")
    def test_pytorch_finds_edges(self) -> None:
        self.assertRegex(self.watch("edges.py", "canvas"), r"^frame \d+: [1-9]\d* pixels of edges$")

    def test_programs_of_the_pages_are_those_of_the_examples(self) -> None:
        sources = [path.read_text().split('"""', 2)[2].strip() for path in EXAMPLES.glob("*.py")]
        pages = [REPOSITORY / "README.md", *REPOSITORY.glob("docs/guides/*.md"),
                 REPOSITORY / "python" / "README.md"]
        found = 0
        for page in pages:
            for block in re.findall(r"```python\n(import .*?)```", page.read_text(), re.DOTALL):
                self.assertIn(block.strip(), sources, page)
                found += 1
        self.assertGreaterEqual(found, 2)


if __name__ == "__main__":
    unittest.main()
