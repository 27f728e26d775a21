"""Real processes: the command line on the other side, forks, kills, the end of the interpreter."""

import os
import signal
import struct
import time
import unittest
import zlib
from pathlib import Path

import framebus
from support import BusTest, needs_numpy


def pixels_of(path: str) -> bytes:
    """The rows of a PNG of 8-bit RGB, without filters undone: only its size and first row."""
    data = Path(path).read_bytes()
    position, packed = 8, b""
    while position < len(data):
        length, kind = struct.unpack(">I4s", data[position : position + 8])
        if kind == b"IDAT":
            packed += data[position + 8 : position + 8 + length]
        position += 12 + length
    return zlib.decompress(packed)


class CommandLineTests(BusTest):
    @needs_numpy
    def test_frames_of_framebus_capture(self) -> None:
        import numpy

        capture = self.start("framebus", "capture", "test:bars", "--size", "64x36", "--fps", "60",
                             "--stream", "bars", "--root", self.root)
        subscriber = framebus.Subscriber(self.group, "bars", timeout=60)
        frames = [self.receive(subscriber) for _ in range(3)]
        picture = numpy.asarray(frames[2])
        self.assertEqual(picture.shape, (36, 64, 4))
        self.assertGreater(len({tuple(pixel) for pixel in picture[0]}), 3)
        self.assertEqual(frames[2].format.rate, 60)
        self.assertLess(frames[0].published_at_ns, frames[2].published_at_ns)
        del frames, picture
        capture.send_signal(signal.SIGINT)
        capture.communicate(timeout=60)
        while subscriber.receive(timeout=60):
            pass
        self.assertIn(subscriber.status().end_reason, ("stopped", "ended"))

    def test_snapshot_of_a_stream_of_python(self) -> None:
        publisher, _ = self.pair()
        path = os.path.join(self.root, "now.png")
        snapshot = self.start("framebus", "snapshot", "canvas", path, "--root", self.root)
        # It waits for a new picture.
        while snapshot.poll() is None:
            publisher.publish(b"\x10\x20\x30\x00" * 2304)
            time.sleep(0.01)
        self.output_of(snapshot)
        row = pixels_of(path)[: 1 + 64 * 3]
        self.assertIn(b"\x30\x20\x10", row)

    def test_publisher_that_is_killed_has_a_successor(self) -> None:
        code = """
            publisher = framebus.Publisher(group, "canvas", framebus.Format.data(8))
            print("publishes", flush=True)
            while publisher.wait():
                publisher.publish(sys.argv[2].encode())
            """
        first = self.python(code, "first")
        self.line_of(first)
        subscriber = framebus.Subscriber(self.group, "canvas")
        kept = self.receive(subscriber)
        first.kill()
        first.wait()
        self.assertEqual(bytes(kept), b"first")
        self.assertFalse(subscriber.finished)
        self.python(code, "second")
        while bytes(frame := self.receive(subscriber)) != b"second":
            pass
        self.assertNotEqual(frame.generation, kept.generation)
        self.assertEqual(bytes(kept), b"first")
        self.assertEqual(subscriber.status().successor_count, 1)

    def test_end_reason_says_how_the_context_ended(self) -> None:
        for code, reason in (("pass", "ended"), ("1 / 0", "failed"), ("sys.exit(3)", "failed")):
            process = self.python(f"""
                with framebus.Publisher(group, "canvas", framebus.Format.data(8)) as publisher:
                    print("publishes", flush=True)
                    sys.stdin.readline()
                    {code}
                """)
            self.line_of(process)
            subscriber = framebus.Subscriber(self.group, "canvas")
            process.communicate("go\n", timeout=60)
            self.assertIsNone(subscriber.receive(timeout=60))
            self.assertEqual(subscriber.status().end_reason, reason)


class InterpreterTests(BusTest):
    def test_interpreter_ends_with_live_frames_loans_and_threads(self) -> None:
        publisher, _ = self.pair()
        publisher.loan().publish()
        process = self.python("""
            import threading
            subscriber = framebus.Subscriber(group, "canvas")
            frame = subscriber.receive()
            view = memoryview(frame)
            capsule = frame.__dlpack__(max_version=(1, 0))
            publisher = framebus.Publisher(group, "mine", framebus.Format.data(8))
            loan = publisher.loan()
            writable = memoryview(loan)
            cycle = [frame, loan]; cycle.append(cycle)
            waiting = framebus.Subscriber(group, "mine")
            threading.Thread(target=waiting.receive, daemon=True).start()
            sys.kept = [frame, view, capsule, loan, writable, subscriber]
            print(view.shape)
            """)
        self.assertEqual(self.output_of(process), "(36, 64, 4)\n")
        publisher.status()

    def test_forked_child_cannot_use_what_its_parent_opened(self) -> None:
        publisher, _ = self.pair()
        publisher.publish(b"\x07" * 9216)
        process = self.python("""
            import os
            subscriber = framebus.Subscriber(group, "canvas")
            frame = subscriber.receive()
            view = memoryview(frame)
            mine = framebus.Publisher(group, "mine", framebus.Format.data(8))
            loan = mine.loan()
            writable = memoryview(loan)
            if (child := os.fork()) == 0:
                kinds = []
                for attempt in (subscriber.poll, subscriber.receive, mine.loan, group.streams,
                                lambda: memoryview(frame),
                                lambda: framebus.Group(root=sys.argv[1])):
                    try:
                        attempt()
                    except Exception as error:
                        kinds.append(type(error).__name__)
                # A view made before is not the end of the child: it is of zeros.
                kinds.append((view[0, 0, 0], view[35, 63, 3]))
                writable[7] = 1
                print(*kinds, flush=True)
                del frame, view, subscriber, loan, writable, mine
                os._exit(0)
            _, status = os.waitpid(child, 0)
            print(os.waitstatus_to_exitcode(status), view[0, 0, 0], writable[7])
            del writable
            print(loan.publish())
            """)
        self.assertEqual(
            self.output_of(process).splitlines(),
            [
                "ForkedError ForkedError ForkedError ForkedError BufferError ForkedError (0, 0)",
                "0 7 0",
                "1",
            ],
        )

    def test_spawned_process_of_multiprocessing_subscribes(self) -> None:
        process = self.python("""
            import multiprocessing, operator
            context = multiprocessing.get_context("spawn")
            publisher = framebus.Publisher(group, "mine", framebus.Format.data(8))
            publisher.publish(b"12345678")
            with context.Pool(1) as pool:
                print(pool.apply(eval, ("(lambda f: bytes(f.Subscriber(f.Group(root=%r), 'mine')"
                    ".receive(timeout=60)))(__import__('framebus'))" % sys.argv[1],)))
            """)
        self.assertEqual(self.output_of(process), "b'12345678'\n")

    def test_many_threads_share_frames(self) -> None:
        publisher, subscriber = self.pair(framebus.Format.data(4096), leases=8)
        process = self.python("""
            import threading
            subscriber = framebus.Subscriber(group, "canvas", leases=8)
            lock, sums = threading.Lock(), []
            def work():
                while True:
                    with lock:
                        frame = subscriber.receive(timeout=60)
                    if frame is None: return
                    data = bytes(frame)
                    assert data == data[:1] * 4096, "torn"
                    sums.append(data[0])
            threads = [threading.Thread(target=work) for _ in range(6)]
            for thread in threads: thread.start()
            print("ready", flush=True)
            for thread in threads: thread.join()
            print(len(sums) > 0, subscriber.status().held_leases)
            """)
        self.line_of(process)
        for number in range(2000):
            publisher.publish(bytes([number % 256]) * 4096)
        subscriber.close()
        publisher.close()
        self.assertEqual(self.output_of(process), "True 0\n")


if __name__ == "__main__":
    unittest.main()
