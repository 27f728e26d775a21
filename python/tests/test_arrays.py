"""Received frames as arrays: read-only, without a copy, leased until the last view goes."""

import ctypes
import gc
import hashlib
import io
import unittest

import framebus
from support import BusTest, needs_numpy, numpy


class Flags(ctypes.Structure):
    """The begin of DLPack's DLManagedTensorVersioned."""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("data", ctypes.c_void_p),
    ]


def tensor_of(capsule: object) -> Flags:
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype = ctypes.c_void_p
    pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return Flags.from_address(pointer(capsule, b"dltensor_versioned"))


class ArrayTests(BusTest):
    def held(self, subscriber: framebus.Subscriber) -> int:
        return subscriber.status().held_leases

    def test_buffer_has_the_pictures_shape_and_is_read_only(self) -> None:
        publisher, subscriber = self.pair()
        publisher.publish(bytes(range(256)) * 36)
        frame = self.receive(subscriber)
        view = memoryview(frame)
        self.assertEqual((view.shape, view.strides, view.format), ((36, 64, 4), (256, 4, 1), "B"))
        self.assertTrue(view.readonly)
        self.assertEqual(view[1, 2, 3], 11)
        with self.assertRaises(TypeError):
            view[0, 0, 0] = 1
        self.assertEqual(bytes(frame), bytes(range(256)) * 36)
        self.assertEqual(frame.data[255], 255)

    def test_writing_through_a_frame_is_an_exception(self) -> None:
        publisher, subscriber = self.pair()
        publisher.loan().publish()
        frame = self.receive(subscriber)
        for attempt in (
            lambda: (ctypes.c_char * 4).from_buffer(frame),
            lambda: io.BytesIO(b"1").readinto(frame),
            lambda: memoryview(frame.planes[0]).__setitem__((0, 0, 0), 1),
            lambda: frame.data.__setitem__(0, 1),
        ):
            self.assertRaises((TypeError, BufferError, ValueError), attempt)

    @needs_numpy
    def test_numpy_array_is_a_read_only_view(self) -> None:
        publisher, subscriber = self.pair()
        with publisher.loan() as loan:
            numpy.asarray(loan)[10, 20] = (1, 2, 3, 4)
        frame = self.receive(subscriber)
        array = numpy.asarray(frame)
        self.assertEqual(array[10, 20].tolist(), [1, 2, 3, 4])
        self.assertFalse(array.flags.owndata)
        with self.assertRaises(ValueError):
            array[0] = 1
        with self.assertRaises(ValueError):
            array.flags.writeable = True
        self.assertEqual(array.ctypes.data, numpy.asarray(frame).ctypes.data)

    def test_lease_ends_with_the_last_view(self) -> None:
        publisher, subscriber = self.pair()
        publisher.loan().publish()
        frame = self.receive(subscriber)
        views = [memoryview(frame), frame.data, memoryview(frame.planes[0])]
        part = views[0].cast("B")[100:200]
        del frame
        while views:
            views.pop()
            self.assertEqual(self.held(subscriber), 1)
        del part
        self.assertEqual(self.held(subscriber), 0)

    @needs_numpy
    def test_lease_ends_with_the_last_array_of_an_array(self) -> None:
        publisher, subscriber = self.pair()
        publisher.loan().publish()
        array = numpy.asarray(self.receive(subscriber))
        part = array[3:5, ::2, 0]
        del array
        self.assertEqual(self.held(subscriber), 1)
        del part
        self.assertEqual(self.held(subscriber), 0)

    def test_lease_in_a_reference_cycle_ends_with_the_cycle(self) -> None:
        publisher, subscriber = self.pair()
        publisher.loan().publish()
        cycle: list[object] = [self.receive(subscriber)]
        cycle += [cycle, memoryview(cycle[0])]  # type: ignore[arg-type]
        del cycle
        gc.collect()
        self.assertEqual(self.held(subscriber), 0)

    def test_released_frame_makes_no_views_and_keeps_those_it_has(self) -> None:
        publisher, subscriber = self.pair()
        publisher.publish(b"\x07" * 9216)
        with self.receive(subscriber) as frame:
            view = memoryview(frame)
        self.assertTrue(frame.released)
        self.assertEqual((view[35, 63, 3], self.held(subscriber)), (7, 1))
        self.assertRaises(BufferError, memoryview, frame)
        self.assertRaises(BufferError, lambda: frame.planes)
        view.release()
        self.assertEqual(self.held(subscriber), 0)
        frame.release()

    def test_frame_outlives_subscriber_and_publisher(self) -> None:
        publisher, subscriber = self.pair()
        publisher.publish(b"\x09" * 9216)
        view = memoryview(self.receive(subscriber))
        subscriber.close()
        publisher.close()
        del subscriber, publisher
        self.group.close()
        self.assertEqual(view.tobytes(), b"\x09" * 9216)

    def test_all_leases_in_use_is_an_error_with_a_remedy(self) -> None:
        publisher, subscriber = self.pair(leases=2)
        kept = []
        for _ in range(2):
            publisher.loan().publish()
            kept.append(self.receive(subscriber))
        publisher.loan().publish()
        with self.assertRaisesRegex(framebus.LimitError, "release frames"):
            subscriber.poll()
        kept.pop()
        self.assertIsNotNone(subscriber.poll())

    @needs_numpy
    def test_planes_of_nv12_and_yuv420(self) -> None:
        for fourcc, shapes in (
            (framebus.NV12, [(36, 64), (18, 32, 2)]),
            (framebus.YUV420, [(36, 64), (18, 32), (18, 32)]),
        ):
            publisher, subscriber = self.pair(framebus.Format.video(fourcc, 64, 36))
            with publisher.loan() as loan:
                for number, plane in enumerate(loan.planes):
                    numpy.asarray(plane)[:] = number + 1
            frame = self.receive(subscriber)
            planes = [numpy.asarray(plane) for plane in frame.planes]
            self.assertEqual([plane.shape for plane in planes], shapes)
            self.assertEqual([int(plane.mean()) for plane in planes], [1, 2, 3][: len(planes)])
            self.assertEqual(numpy.asarray(frame).shape, (frame.byte_count,))
            del frame, planes
            subscriber.close()
            publisher.close()

    @needs_numpy
    def test_padded_rows_are_strides(self) -> None:
        publisher, subscriber = self.pair(framebus.Format.video(framebus.BGR888, 3, 2))
        publisher.publish(numpy.arange(18, dtype=numpy.uint8).reshape(2, 3, 3))
        frame = self.receive(subscriber)
        array = numpy.asarray(frame)
        self.assertEqual((array.shape, array.strides), ((2, 3, 3), (12, 3, 1)))
        self.assertEqual(array.ravel().tolist(), list(range(18)))
        self.assertEqual(bytes(frame), bytes(range(18)))
        self.assertEqual(frame.byte_count, 24)
        # Callers that need bytes without gaps are told.
        self.assertRaisesRegex(BufferError, "padded", hashlib.sha256, frame)

    def test_sound_has_samples_and_channels(self) -> None:
        for samples, code, itemsize in (("s16le", "h", 2), ("f32le", "f", 4), ("s16be", ">h", 2)):
            format = framebus.Format.audio(samples, 48000, 2, 480)
            publisher, subscriber = self.pair(format)
            publisher.publish(bytes(40 * itemsize))
            frame = self.receive(subscriber)
            view = memoryview(frame)
            self.assertEqual((view.shape, view.format), ((20, 2), code))
            self.assertEqual(frame.byte_count, 40 * itemsize)
            self.assertEqual(frame.format.samples, samples)
            if samples == "s16be":
                self.assertRaises(BufferError, frame.__dlpack__, max_version=(1, 0))
            view.release()
            del frame
            subscriber.close()
            publisher.close()

    def test_change_of_format_changes_the_arrays(self) -> None:
        publisher, subscriber = self.pair()
        publisher.loan().publish()
        before = self.receive(subscriber)
        publisher.set_format(framebus.Format.video("XR24", 32, 18))
        publisher.loan().publish()
        after = self.receive(subscriber)
        self.assertEqual(memoryview(before).shape, (36, 64, 4))
        self.assertEqual(memoryview(after).shape, (18, 32, 4))
        self.assertNotEqual(before.format, after.format)


class TensorTests(BusTest):
    def test_dlpack_says_read_only_and_keeps_the_lease(self) -> None:
        publisher, subscriber = self.pair()
        publisher.loan().publish()
        frame = self.receive(subscriber)
        self.assertEqual(frame.__dlpack_device__(), (1, 0))
        capsule = frame.__dlpack__(max_version=(1, 1))
        tensor = tensor_of(capsule)
        self.assertEqual((tensor.major, tensor.flags), (1, 1))
        del frame
        self.assertEqual(subscriber.status().held_leases, 1)
        del capsule
        self.assertEqual(subscriber.status().held_leases, 0)

    def test_consumer_that_cannot_know_of_read_only_gets_a_copy_alone(self) -> None:
        publisher, subscriber = self.pair()
        publisher.loan().publish()
        frame = self.receive(subscriber)
        for version in (None, (0, 8)):
            with self.assertRaisesRegex(BufferError, "read-only"):
                frame.__dlpack__(max_version=version)
        self.assertIsNotNone(frame.__dlpack__(copy=True))
        copied = frame.__dlpack__(max_version=(1, 0), copy=True)
        self.assertEqual(tensor_of(copied).flags, 2)
        self.assertRaises(BufferError, frame.__dlpack__, stream=1)
        self.assertRaises(BufferError, frame.__dlpack__, dl_device=(2, 0))
        self.assertRaises(TypeError, frame.__dlpack__, colour=1)

    def test_loan_is_a_writable_tensor(self) -> None:
        publisher, _ = self.pair()
        loan = publisher.loan()
        capsule = loan.__dlpack__(max_version=(1, 0))
        self.assertEqual(tensor_of(capsule).flags, 0)
        self.assertRaises(BufferError, loan.publish)
        del capsule
        loan.publish()

    @unittest.skipUnless(
        numpy and numpy.lib.NumpyVersion(numpy.__version__) >= "2.1.0",
        "numpy 2.1 or newer is not installed",
    )
    def test_numpy_from_dlpack_is_read_only(self) -> None:
        publisher, subscriber = self.pair()
        publisher.publish(bytes(range(256)) * 36)
        array = numpy.from_dlpack(self.receive(subscriber))
        self.assertEqual((array.shape, array[1, 2, 3]), ((36, 64, 4), 11))
        with self.assertRaises(ValueError):
            array[0] = 1
        self.assertEqual(subscriber.status().held_leases, 1)
        del array
        self.assertEqual(subscriber.status().held_leases, 0)


if __name__ == "__main__":
    unittest.main()
