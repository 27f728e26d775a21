"""`framebus bench python` as a user runs it. Figures are not judged."""

import json
import subprocess
import unittest

from support import PROGRAMS, needs_numpy


class BenchTests(unittest.TestCase):
    @needs_numpy
    @unittest.skipUnless(
        (PROGRAMS / "PythonFramebus").exists() and (PROGRAMS / "BusRing").exists(),
        "PythonFramebus or BusRing is missing: scripts/python bench, swift build --product BusRing",
    )
    def test_every_row_has_figures(self) -> None:
        result = subprocess.run(
            [PROGRAMS / "framebus", "bench", "python", "--seconds", "0.1", "--rounds", "1",
             "--json"],
            capture_output=True,
            text=True,
            timeout=600,
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        rows: dict[str, set[str]] = {}
        for record in json.loads(result.stdout):
            rows.setdefault(record["subject"], set()).add(record["scenario"])
            self.assertGreater(record["samples"], 0, record)
            self.assertGreater(record["p50_ns"], 0, record)
        self.assertEqual(len(rows["framebus"]), 6)
        self.assertEqual(rows["framebus"], rows["swift"])


if __name__ == "__main__":
    unittest.main()
