"""Waits: without the interpreter's lock, ended by signals, other threads and asyncio."""

import asyncio
import select
import signal
import threading
import time
import unittest

import framebus
from support import BusTest


class WaitingTests(BusTest):
    def start_thread(self, target: object) -> threading.Thread:
        thread = threading.Thread(target=target, daemon=True)  # type: ignore[arg-type]
        thread.start()
        return thread

    def test_timeouts(self) -> None:
        publisher, subscriber = self.pair()
        for wait in (subscriber.receive, lambda timeout: framebus.Subscriber(
            self.group, "nothing", timeout=timeout)):
            before = time.monotonic()
            with self.assertRaises((TimeoutError, framebus.NotFoundError)):
                wait(timeout=0.05)
            self.assertGreaterEqual(time.monotonic() - before, 0.045)
        self.assertFalse(framebus.Publisher(
            self.group, "alone", publisher.format).wait(timeout=0.05))
        self.assertRaises(TimeoutError, subscriber.receive, 0)
        self.assertRaises(ValueError, subscriber.receive, float("nan"))
        self.assertRaises(TypeError, subscriber.receive, "soon")
        self.assertRaises(TypeError, subscriber.receive, seconds=1)

    def test_other_threads_run_during_a_wait(self) -> None:
        publisher, subscriber = self.pair()

        def publish() -> None:
            for _ in range(20):
                publisher.loan().publish()
                time.sleep(0.001)
            publisher.close()

        thread = self.start_thread(publish)
        sequences = [frame.sequence for frame in subscriber]
        thread.join()
        self.assertEqual(sequences[-1], 20)
        self.assertEqual(sequences, sorted(set(sequences)))

    def test_closing_ends_the_wait_of_another_thread(self) -> None:
        publisher, subscriber = self.pair()
        caught: list[BaseException] = []

        def receive() -> None:
            try:
                subscriber.receive()
            except framebus.Error as error:
                caught.append(error)

        thread = self.start_thread(receive)
        # A second user is refused once the thread waits.
        while True:
            try:
                subscriber.status()
            except RuntimeError as error:
                self.assertIn("another thread waits", str(error))
                break
        subscriber.close()
        thread.join()
        self.assertIsInstance(caught[0], framebus.ClosedError)
        self.assertRaises(framebus.ClosedError, subscriber.poll)

    def test_closing_ends_a_publishers_wait(self) -> None:
        publisher = framebus.Publisher(self.group, "alone", framebus.Format.data(8))
        caught: list[BaseException] = []
        began = threading.Event()

        def wait() -> None:
            began.set()
            try:
                publisher.wait()
            except framebus.Error as error:
                caught.append(error)

        thread = self.start_thread(wait)
        began.wait()
        publisher.close()
        thread.join()
        self.assertIsInstance(caught[0], framebus.ClosedError)

    def test_publisher_waits_for_a_lossless_subscriber(self) -> None:
        publisher = framebus.Publisher(
            self.group, "all", framebus.Format.data(8), lossless=True, ring_depth=2)
        subscriber = framebus.Subscriber(self.group, "all", policy="lossless", start="next")
        received: list[int] = []

        def receive() -> None:
            for frame in subscriber:
                received.append(int.from_bytes(bytes(frame), "little"))

        while True:
            try:
                publisher.loan(timeout=0).publish()
            except framebus.BackpressureError:
                break
        self.assertRaises(TimeoutError, publisher.loan, 0.02)
        first = publisher.status().published_count
        thread = self.start_thread(receive)
        for number in range(200):
            publisher.publish(number.to_bytes(8, "little"))
        publisher.close()
        thread.join()
        self.assertEqual(received[first:], list(range(200)))

    def test_keyboard_interrupt_ends_each_wait(self) -> None:
        framebus.Publisher(self.group, "canvas", framebus.Format.data(8))
        for wait in (
            "framebus.Subscriber(group, 'live').receive()",
            "next(framebus.Subscriber(group, 'live'))",
            "framebus.Subscriber(group, 'absent', timeout=None)",
            "framebus.Publisher(group, 'mine', framebus.Format.data(8)).wait()",
        ):
            publisher = framebus.Publisher(self.group, "live", framebus.Format.data(8))
            process = self.python(f"""
                import os, signal, threading, time
                # A shell starts jobs in the background with SIGINT ignored.
                signal.signal(signal.SIGINT, signal.default_int_handler)
                # The main thread is asleep in its wait when the system says so.
                def tell():
                    while True:
                        state = open("/proc/self/stat").read().rpartition(")")[2].split()[0]
                        if state == "S" and waiting: break
                    print("waits", flush=True)
                waiting = []
                threading.Thread(target=tell, daemon=True).start()
                try:
                    waiting.append(1)
                    {wait}
                except KeyboardInterrupt:
                    print("interrupted")
                """)
            self.assertEqual(self.line_of(process), "waits")
            process.send_signal(signal.SIGINT)
            self.assertEqual(self.output_of(process), "interrupted\n", wait)
            publisher.close()

    def test_signal_handler_that_returns_does_not_end_a_wait(self) -> None:
        publisher, subscriber = self.pair()
        seen: list[int] = []
        former = signal.signal(signal.SIGUSR1, lambda number, frame: seen.append(number))
        self.addCleanup(signal.signal, signal.SIGUSR1, former)
        main = threading.get_ident()

        def disturb() -> None:
            while len(seen) < 5:
                signal.pthread_kill(main, signal.SIGUSR1)
                time.sleep(0.002)
            publisher.loan().publish()

        thread = self.start_thread(disturb)
        self.assertEqual(self.receive(subscriber).sequence, 1)
        thread.join()
        self.assertGreaterEqual(len(seen), 5)

    def test_descriptor_is_readable_while_there_may_be_a_frame(self) -> None:
        publisher, subscriber = self.pair()
        while subscriber.poll():
            pass
        self.assertEqual(select.select([subscriber], [], [], 0)[0], [])
        publisher.loan().publish()
        self.assertEqual(select.select([subscriber], [], [], 60)[0], [subscriber])
        self.assertIsNotNone(subscriber.poll())
        self.assertIsNone(subscriber.poll())
        self.assertEqual(select.select([subscriber], [], [], 0)[0], [])
        publisher.status()
        subscriber.close()
        self.assertEqual(select.select([publisher], [], [], 60)[0], [publisher])


class AsyncioTests(BusTest):
    def test_async_for_receives_until_the_end(self) -> None:
        publisher, subscriber = self.pair(ring_depth=64, policy="keep-latest", count=64)

        async def publish() -> None:
            for _ in range(30):
                publisher.loan().publish()
                await asyncio.sleep(0.001)
            publisher.close()

        async def receive() -> list[int]:
            return [frame.sequence async for frame in subscriber]

        async def run() -> list[int]:
            return (await asyncio.gather(receive(), publish()))[0]

        self.assertEqual(asyncio.run(run())[-1], 30)

    def test_cancelled_task_loses_no_frame(self) -> None:
        publisher, subscriber = self.pair(ring_depth=64, policy="keep-latest", count=64, start="next")

        async def run() -> list[int]:
            received: list[int] = []

            async def receive() -> None:
                async for frame in subscriber:
                    received.append(frame.sequence)

            for _ in range(20):
                task = asyncio.create_task(receive())
                await asyncio.sleep(0)
                publisher.loan().publish()
                await asyncio.sleep(0)
                task.cancel()
                self.assertIsInstance(
                    (await asyncio.gather(task, return_exceptions=True))[0],
                    asyncio.CancelledError)
            publisher.close()
            await receive()
            return received

        received = asyncio.run(run())
        dropped = subscriber.status().dropped_count
        self.assertEqual((len(received) + dropped, received[-1]), (20, 20))

    def test_wait_for_times_out_and_the_subscriber_stays_usable(self) -> None:
        publisher, subscriber = self.pair()

        async def run() -> None:
            with self.assertRaises(TimeoutError):
                await asyncio.wait_for(subscriber.receive_async(), 0.02)
            self.assertFalse(asyncio.get_running_loop().remove_reader(subscriber.fileno()))
            publisher.loan().publish()
            frame = await asyncio.wait_for(subscriber.receive_async(), 60)
            assert frame
            self.assertEqual(frame.sequence, 1)
            first = asyncio.create_task(subscriber.receive_async())
            await asyncio.sleep(0.01)
            with self.assertRaisesRegex(RuntimeError, "another task"):
                await subscriber.receive_async()
            first.cancel()

        asyncio.run(run())

    def test_busy_stream_leaves_time_to_other_tasks(self) -> None:
        publisher, subscriber = self.pair(framebus.Format.data(8))
        ticks = 0

        async def run() -> None:
            nonlocal ticks

            async def tick() -> None:
                nonlocal ticks
                while True:
                    ticks += 1
                    await asyncio.sleep(0)

            task = asyncio.create_task(tick())
            for _ in range(100):
                publisher.publish(bytes(8))
                await subscriber.receive_async()
            task.cancel()

        asyncio.run(run())
        self.assertGreaterEqual(ticks, 50)


if __name__ == "__main__":
    unittest.main()
