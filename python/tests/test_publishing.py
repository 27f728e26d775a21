"""Loans: written in place, published once, never changed afterwards."""

import unittest
from fractions import Fraction

import framebus
from support import BusTest, needs_numpy, numpy


class PublishingTests(BusTest):
    def test_context_manager_publishes_and_abandons_after_an_exception(self) -> None:
        publisher, subscriber = self.pair()
        with publisher.loan() as loan:
            loan.data[0] = 5
        self.assertEqual(self.receive(subscriber).data[0], 5)
        with self.assertRaises(ZeroDivisionError):
            with publisher.loan() as loan:
                memoryview(loan)[0, 0, 0] = 1 // 0
        self.assertEqual(publisher.status().published_count, 1)
        self.assertEqual(publisher.status().loan_count, 0)
        with publisher.loan() as loan:
            loan.abandon()
        self.assertIsNone(subscriber.poll())

    def test_views_of_a_loan_prevent_its_publication(self) -> None:
        publisher, subscriber = self.pair()
        loan = publisher.loan()
        for view in (memoryview(loan), loan.data, memoryview(loan.planes[0])):
            with self.assertRaisesRegex(BufferError, "del"):
                loan.publish()
            view.release()
        self.assertEqual(loan.publish(), 1)
        self.assertRaises(BufferError, memoryview, loan)
        self.assertRaises(framebus.ClosedError, loan.publish)
        self.assertIsNotNone(subscriber.poll())

    def test_abandoned_loan_ends_with_its_last_view(self) -> None:
        publisher, _ = self.pair()
        loan = publisher.loan()
        view = memoryview(loan)
        loan.abandon()
        self.assertEqual(publisher.status().loan_count, 1)
        view[0, 0, 0] = 1
        self.assertRaises(framebus.LimitError, publisher.loan)
        view.release()
        self.assertEqual(publisher.status().loan_count, 0)
        publisher.loan().publish()

    def test_publisher_ends_with_the_last_view_of_a_loan(self) -> None:
        publisher, subscriber = self.pair()
        loan = publisher.loan()
        view = memoryview(loan)
        publisher.close()
        self.assertTrue(publisher.closed)
        view[35, 63, 3] = 1  # Its memory is still there.
        self.assertFalse(subscriber.finished)
        view.release()
        self.assertIsNone(subscriber.receive(timeout=60))
        self.assertTrue(subscriber.finished)
        self.assertRaises(framebus.ClosedError, loan.publish)
        self.assertRaises(BufferError, memoryview, loan)
        self.assertRaises(framebus.ClosedError, publisher.loan)

    def test_dropped_loan_is_given_back(self) -> None:
        publisher, _ = self.pair()
        for _ in range(3):
            publisher.loan()
        self.assertEqual(publisher.status().loan_count, 0)

    def test_publish_copies_buffers(self) -> None:
        publisher, subscriber = self.pair()
        self.assertEqual(publisher.publish(bytearray(b"\x03" * 9216)), 1)
        self.assertEqual(self.receive(subscriber).data[9215], 3)
        with self.assertRaisesRegex(ValueError, "has 3 bytes, and the format 9216"):
            publisher.publish(b"abc")
        self.assertRaises(TypeError, publisher.publish, "text")
        self.assertRaises(TypeError, publisher.publish)
        self.assertRaises(TypeError, publisher.publish, bytes(9216), color=1)
        self.assertEqual(publisher.status().loan_count, 0)

    def test_data_may_be_shorter_than_the_format(self) -> None:
        publisher, subscriber = self.pair(framebus.Format.data(100))
        publisher.publish(b"hello")
        frame = self.receive(subscriber)
        self.assertEqual((bytes(frame), frame.byte_count), (b"hello", 5))
        with publisher.loan() as loan:
            loan.data[:2] = b"ab"
            self.assertEqual(loan.publish(byte_count=2), 2)
        self.assertEqual(bytes(self.receive(subscriber)), b"ab")

    @needs_numpy
    def test_publish_copies_arrays_of_any_strides(self) -> None:
        publisher, subscriber = self.pair()
        picture = numpy.arange(9216, dtype=numpy.uint16).astype(numpy.uint8).reshape(36, 64, 4)
        for array in (picture, picture[:, ::-1], numpy.asfortranarray(picture)):
            publisher.publish(array)
            self.assertTrue((numpy.asarray(self.receive(subscriber)) == array).all())

    def test_metadata_arrives(self) -> None:
        publisher, subscriber = self.pair()
        publisher.loan().publish()
        self.receive(subscriber)
        publisher.loan().publish(
            pts_ns=-5,
            duration_ns=40,
            captured_at_ns=7,
            flags=framebus.DISCONTINUITY,
            orientation=6,
            crop=(2, 4, 10, 20),
        )
        frame = self.receive(subscriber)
        metadata = frame.metadata
        self.assertEqual(metadata.crop, (2, 4, 10, 20))
        self.assertEqual((metadata.orientation, metadata.duration_ns), (6, 40))
        self.assertEqual((frame.pts_ns, frame.captured_at_ns, frame.flags & 2), (-5, 7, 2))
        damage = [framebus.Rect(1, 2, 3, 4), (5, 6, 7, 8)]
        publisher.loan().publish(orientation=6, crop=(2, 4, 10, 20), damage=damage)
        self.assertEqual(self.receive(subscriber).metadata.damage, ((1, 2, 3, 4), (5, 6, 7, 8)))
        loan = publisher.loan()
        for wrong in ({"orientation": 9}, {"crop": (1, 2)}, {"damage": [(0, 0, 1, 1)] * 5}):
            self.assertRaises(ValueError, loan.publish, **wrong)
        loan.publish()

    def test_formats_describe_themselves(self) -> None:
        format = framebus.Format.video(
            "NV12", 64, 36, rate=Fraction(30000, 1001), matrix=1, range="limited"
        )
        self.assertEqual(format.rate, Fraction(30000, 1001))
        self.assertEqual((format.fourcc, format.kind, format.range), ("NV12", "video", "limited"))
        self.assertEqual(format.planes, ((0, 64), (2304, 64)))
        self.assertEqual(format, framebus.Format.video(
            "NV12", 64, 36, rate=Fraction(30000, 1001), matrix=1, range="limited"))
        self.assertNotEqual(format, framebus.Format.video("NV12", 64, 36))
        self.assertIn("NV12 64x36", repr(format))
        for wrong in (("XR2", 1, 1), ("QQQQ", 1, 1), ("XR24", 0, 1)):
            self.assertRaises(ValueError, framebus.Format.video, *wrong)
        self.assertRaisesRegex(
            ValueError, "s16le", framebus.Format.audio, "s17", 48000, 2, 480)
        self.assertRaises(TypeError, framebus.Format)

    def test_stream_is_listed_paused_and_resumed(self) -> None:
        publisher, subscriber = self.pair()
        publisher.set_application("org.example.Paint")
        (stream,) = self.group.streams()
        self.assertEqual((stream.name, stream.state), ("canvas", "live"))
        self.assertEqual(stream.format, publisher.format)
        self.assertEqual(stream.application, "org.example.Paint")
        publisher.pause()
        self.assertRaises(framebus.PausedError, publisher.loan)
        self.assertEqual(self.group.streams()[0].state, "paused")
        publisher.resume()
        publisher.loan().publish()
        self.receive(subscriber)

    def test_demand_reaches_the_publisher(self) -> None:
        publisher, subscriber = self.pair()
        subscriber.set_demand(640, 360, 10)
        subscriber.set_utilization(0.5)
        self.assertTrue(publisher.wait(timeout=60))
        status = publisher.status()
        self.assertEqual((status.demanded_width, status.demanded_height), (640, 360))
        self.assertEqual(status.demanded_rate, 10)

    def test_errors_have_a_kind_a_code_and_a_remedy(self) -> None:
        publisher, _ = self.pair()
        with self.assertRaises(framebus.BusyError) as caught:
            framebus.Publisher(self.group, "canvas", publisher.format)
        self.assertEqual(caught.exception.code, -4)
        with self.assertRaises(framebus.NotFoundError) as missing:
            framebus.Group("group.no.such", self.root)
        self.assertIn("framebus group create", str(missing.exception))
        self.assertIsInstance(missing.exception, LookupError)
        self.assertRaises(framebus.NotFoundError, framebus.Subscriber, self.group, "nothing")
        self.assertRaises(ValueError, framebus.Subscriber, self.group, "Not A Name")
        self.assertRaisesRegex(
            ValueError, "latest, keep-latest", framebus.Subscriber, self.group, "canvas",
            policy="all")
        self.assertRaises(TypeError, framebus.Publisher, "group", "canvas", publisher.format)


if __name__ == "__main__":
    unittest.main()
