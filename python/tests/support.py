"""What the tests share: a group of their own, programs, other processes, a watchdog."""

from __future__ import annotations

import faulthandler
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path
from typing import Any

import framebus

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]

needs_numpy = unittest.skipUnless(numpy, "numpy is not installed")
PROGRAMS = Path(os.environ.get("FRAMEBUS_PROGRAMS", "/usr/local/bin"))
WATCHDOG_SECONDS = 120


def program(name: str, *arguments: str, **options: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [str(PROGRAMS / name), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **options,
    )


class BusTest(unittest.TestCase):
    """Tests with a group of their class, which end the processes that they started."""

    root: str

    @classmethod
    def setUpClass(cls) -> None:
        cls.root = tempfile.mkdtemp(prefix="framebus-python-")
        cls.addClassCleanup(shutil.rmtree, cls.root, ignore_errors=True)
        subprocess.run(
            [PROGRAMS / "framebus", "group", "create", "--root", cls.root],
            check=True,
            stdout=subprocess.DEVNULL,
        )

    def setUp(self) -> None:
        faulthandler.dump_traceback_later(WATCHDOG_SECONDS, exit=True)
        self.addCleanup(faulthandler.cancel_dump_traceback_later)
        self.group = framebus.Group(root=self.root)
        self.addCleanup(self.group.close)

    def framebus(self, *arguments: str) -> str:
        """Runs the command line, and returns what it printed."""
        process = self.start("framebus", *arguments, "--root", self.root)
        output, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, output)
        return output

    def start(self, name: str, *arguments: str) -> subprocess.Popen[str]:
        process = program(name, *arguments)
        self.addCleanup(self.end, process)
        return process

    def end(self, process: subprocess.Popen[str]) -> None:
        if process.poll() is None:
            process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream:
                stream.close()

    def python(self, code: str, *arguments: str) -> subprocess.Popen[str]:
        """Another Python process. It finds the group's directory in its first argument."""
        prelude = "import sys, framebus\ngroup = framebus.Group(root=sys.argv[1])\n"
        process = subprocess.Popen(
            [sys.executable, "-X", "faulthandler", "-W", "ignore::DeprecationWarning", "-c", prelude + textwrap.dedent(code)]
            + [self.root, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.addCleanup(self.end, process)
        return process

    def output_of(self, process: subprocess.Popen[str], status: int = 0) -> str:
        output, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, status, output)
        return output

    def line_of(self, process: subprocess.Popen[str]) -> str:
        assert process.stdout
        return process.stdout.readline().strip()

    def pair(
        self, format: framebus.Format | None = None, ring_depth: int = 0, **options: Any
    ) -> tuple[framebus.Publisher, framebus.Subscriber]:
        """A publisher and a subscriber of one stream in this process."""
        format = format or framebus.Format.video("XR24", 64, 36)
        publisher = framebus.Publisher(self.group, "canvas", format, ring_depth=ring_depth)
        self.addCleanup(publisher.close)
        subscriber = framebus.Subscriber(self.group, "canvas", **options)
        self.addCleanup(subscriber.close)
        return publisher, subscriber

    def receive(self, subscriber: framebus.Subscriber) -> framebus.Frame:
        frame = subscriber.receive(timeout=60)
        assert frame
        return frame
