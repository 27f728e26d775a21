"""Notifications, settings, log, semaphores and credentials, with the command line on the other side."""

import asyncio
import json
import logging
import os
import select
import signal
import subprocess
import threading
import unittest

import framebus
from support import PROGRAMS, BusTest


class NotificationTests(BusTest):
    def test_posts_of_the_command_line_are_delivered(self) -> None:
        notifications = framebus.Notifications(self.group)
        observation = notifications.observe("started")
        self.assertIsNone(observation.poll())
        self.assertRaises(TimeoutError, observation.receive, 0.02)
        self.framebus("notify", "post", "started")
        self.assertEqual(select.select([observation], [], [], 60)[0], [observation])
        delivery = next(observation)
        self.assertEqual((delivery.total_count, delivery.coalesced_count), (1, 1))
        self.assertEqual(delivery.poster_uid, os.getuid())
        self.assertEqual([notifications.post("started") for _ in range(3)], [2, 3, 4])
        self.assertEqual(sum(d.coalesced_count for d in self.all(observation, 4)), 3)

    def all(self, observation: framebus.Observation, total: int) -> list[framebus.Delivery]:
        found = [observation.receive(timeout=60)]
        while found[-1].total_count < total:
            found.append(observation.receive(timeout=60))
        return found

    def test_command_line_observes_posts_of_python(self) -> None:
        watch = self.start("framebus", "notify", "watch", "painted", "--count", "1", "--timeout",
                           "60", "--root", self.root)
        notifications = framebus.Notifications(self.group)
        while watch.poll() is None:
            notifications.post("painted")
            select.select([], [], [], 0.01)
        self.assertIn("painted", self.output_of(watch))

    def test_state_is_64_bits_that_all_share(self) -> None:
        notifications = framebus.Notifications(self.group)
        self.assertEqual(notifications.state("mode"), 0)
        notifications.set_state("mode", 2**64 - 1)
        self.assertEqual(framebus.Notifications(self.group).state("mode"), 2**64 - 1)
        self.assertRaises(ValueError, notifications.set_state, "mode", 2**64)
        self.assertRaises(ValueError, notifications.post, "")
        self.assertRaises(ValueError, notifications.post, "a\0b")
        notifications.close()
        self.assertRaises(framebus.ClosedError, notifications.post, "mode")

    def test_deliveries_in_asyncio(self) -> None:
        notifications = framebus.Notifications(self.group)

        async def run() -> int:
            total = 0
            with notifications.observe("tick") as observation:
                notifications.post("tick")
                async for delivery in framebus.deliveries(observation):
                    total = delivery.total_count
                    if total == 5:
                        return total
                    asyncio.get_running_loop().call_soon(notifications.post, "tick")
            return total

        self.assertEqual(asyncio.run(run()), 5)

    def test_closing_ends_the_wait_of_another_thread(self) -> None:
        observation = framebus.Notifications(self.group).observe("never")
        caught: list[BaseException] = []

        def receive() -> None:
            try:
                observation.receive()
            except framebus.Error as error:
                caught.append(error)

        thread = threading.Thread(target=receive, daemon=True)
        thread.start()
        while True:
            try:
                observation.poll()
            except RuntimeError:
                break
        observation.close()
        thread.join()
        self.assertIsInstance(caught[0], framebus.ClosedError)


class SettingTests(BusTest):
    def test_values_of_each_type(self) -> None:
        settings = framebus.Settings(self.group, "upload")
        values = {
            "active": True,
            "count": -(2**63),
            "share": 0.5,
            "title": "Grüße " + "x" * 1000,
            "blob": bytes(range(256)) * 3,
        }
        for key, value in values.items():
            settings[key] = value
        again = framebus.Settings(self.group, "upload")
        for key, value in values.items():
            self.assertEqual(again[key], value)
            self.assertIs(type(again[key]), type(value))
        self.assertEqual(self.framebus("defaults", "read", "upload", "count"), f"{-(2**63)}\n")
        settings.synchronize()

    def test_missing_wrong_and_secret_keys(self) -> None:
        settings = framebus.Settings(self.group, "wrong")
        self.assertNotIn("nothing", settings)
        self.assertIsNone(settings.get("nothing"))
        self.assertEqual(settings.get("nothing", 5), 5)
        with self.assertRaises(LookupError):
            settings["nothing"]
        with self.assertRaises(LookupError):
            del settings["nothing"]
        with self.assertRaises(framebus.ArgumentError):
            settings["password"] = "hunter2"
        with self.assertRaisesRegex(ValueError, "2\\*\\*63"):
            settings["number"] = 2**63
        for value in (None, [1], {"a": 1}):
            with self.assertRaises(TypeError):
                settings["value"] = value  # type: ignore[assignment]
        settings["key"] = 1
        del settings["key"]
        self.assertNotIn("key", settings)

    def test_changes_of_the_command_line_are_observed(self) -> None:
        settings = framebus.Settings(self.group, "live")
        with settings.observe("bitrate") as one, settings.observe() as every:
            self.framebus("defaults", "write", "live", "other", "1", "--type", "int")
            self.framebus("defaults", "write", "live", "bitrate", "7", "--type", "int")
            self.assertEqual(one.receive(timeout=60), "bitrate")
            self.assertEqual(settings["bitrate"], 7)
            self.assertEqual({every.receive(timeout=60), every.receive(timeout=60)},
                             {"bitrate", "other"})
            self.assertIsNone(one.poll())


class LogTests(BusTest):
    def lines(self) -> list[dict[str, object]]:
        text = self.framebus("log", "show", "--json", "--level", "trace")
        return [json.loads(line) for line in text.splitlines()]

    def test_records_of_logging_are_lines_of_the_group(self) -> None:
        handler = framebus.LogHandler(framebus.Log(self.group, "capture", "debug"))
        logger = logging.Logger("paint.square")
        logger.addHandler(handler)
        logger.debug("moved to %d", 5)
        logger.warning("a\0zero and a \ud800 surrogate", extra={"fields": {"stream": "canvas"}})
        try:
            1 // 0
        except ZeroDivisionError:
            logger.exception("failed")
        logger.log(5, "below the level")
        handler.close()
        text = json.dumps(self.lines())
        for part in ("moved to 5", "paint.square", "canvas", "surrogate", "ZeroDivisionError"):
            self.assertIn(part, text)
        self.assertNotIn("below the level", text)

    def test_line_of_a_killed_process_is_there(self) -> None:
        process = self.python("""
            import os
            log = framebus.Log(group, "host")
            assert log.writes("notice") and not log.writes("debug")
            log.append("notice", "the last words", fields={"a": "b"})
            os.kill(os.getpid(), 9)
            """)
        self.output_of(process, -signal.SIGKILL)
        self.assertIn("the last words", json.dumps(self.lines()))

    def test_log_refuses_wrong_arguments_and_use_after_close(self) -> None:
        with framebus.Log(self.group, "host") as log:
            self.assertRaisesRegex(ValueError, "warning", log.append, "loud", "text")
            self.assertRaises(TypeError, log.append, "info", "text", fields={"a": 1})
            log.append("info", "text")
            log.flush(timeout=60)
        self.assertTrue(log.closed)
        self.assertRaises(framebus.ClosedError, log.append, "info", "text")


class SemaphoreTests(BusTest):
    def test_permits_pass_between_processes(self) -> None:
        with self.assertRaises(framebus.NotFoundError):
            framebus.Semaphore(self.group, "gpu")
        semaphore = framebus.Semaphore(self.group, "gpu", create=1)
        self.assertRaises(
            framebus.ExistsError, framebus.Semaphore, self.group, "gpu", create=1)
        with semaphore:
            self.assertEqual(semaphore.value, 0)
            self.assertFalse(semaphore.acquire(timeout=0.02))
            waiting = self.python("""
                semaphore = framebus.Semaphore(group, "gpu")
                print("waits", flush=True)
                print(semaphore.acquire())
                """)
            self.assertEqual(self.line_of(waiting), "waits")
        self.assertEqual(self.output_of(waiting), "True\n")
        framebus.Semaphore.remove(self.group, "gpu")

    def test_recoverable_permit_of_a_killed_process_returns(self) -> None:
        semaphore = framebus.Semaphore(self.group, "film", create=1, recoverable=True)
        holder = self.python("""
            semaphore = framebus.Semaphore(group, "film")
            semaphore.acquire()
            print("holds", flush=True)
            semaphore.acquire()
            """)
        self.assertEqual(self.line_of(holder), "holds")
        holder.kill()
        holder.wait()
        self.assertTrue(semaphore.acquire(timeout=60))


class CredentialTests(BusTest):
    def setUp(self) -> None:
        super().setUp()
        subprocess.run(
            [PROGRAMS / "framebus", "credential", "set", "whip", "me", "--quiet", "--root",
             self.root],
            input=b"tops3cret",
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def test_credential_is_read_in_place_and_wiped(self) -> None:
        with framebus.Secret(self.group, "whip", "me") as secret:
            view = memoryview(secret)
            self.assertTrue(view.readonly)
            self.assertEqual(bytes(view), b"tops3cret")
            self.assertNotIn("tops3cret", repr(secret))
        # The memory stays until its last view has gone.
        self.assertEqual(view[0], ord("t"))
        self.assertRaises(BufferError, memoryview, secret)
        view.release()
        self.assertTrue(secret.closed)
        self.assertRaises(framebus.NotFoundError, framebus.Secret, self.group, "whip", "you")

    def test_child_process_does_not_inherit_a_secret(self) -> None:
        process = self.python("""
            import os
            secret = framebus.Secret(group, "whip", "me")
            view = memoryview(secret)
            if (child := os.fork()) == 0:
                print(bytes(view) == bytes(9), flush=True)
                os._exit(0)
            os.waitpid(child, 0)
            print(bytes(view) == b"tops3cret")
            """)
        self.assertEqual(self.output_of(process), "True\nTrue\n")


if __name__ == "__main__":
    unittest.main()
