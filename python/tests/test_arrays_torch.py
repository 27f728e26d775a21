"""Tensors of PyTorch, which knows no read-only memory: Debian's python3-torch, run by hand."""

import signal
import unittest
import warnings

from support import BusTest, needs_numpy, numpy

try:
    import torch
except ImportError:
    torch = None


@unittest.skipUnless(torch, "PyTorch is not installed (apt-get install python3-torch)")
class TorchTests(BusTest):
    def test_received_frame_is_refused_without_a_copy(self) -> None:
        publisher, subscriber = self.pair()
        publisher.publish(bytes(range(256)) * 36)
        frame = self.receive(subscriber)
        # A PyTorch that asks for DLPack 1.0 gets the read-only flag, and may ignore it.
        with self.assertRaisesRegex(BufferError, "read-only.*give it a copy"):
            torch.utils.dlpack.from_dlpack(frame.__dlpack__())
        tensor = torch.utils.dlpack.from_dlpack(frame.__dlpack__(copy=True))
        self.assertEqual((tuple(tensor.shape), int(tensor[1, 2, 3])), ((36, 64, 4), 11))
        tensor[:] = 7
        self.assertEqual(bytes(frame)[:4], bytes(range(4)))

    @needs_numpy
    def test_copy_is_a_writable_tensor(self) -> None:
        publisher, subscriber = self.pair()
        publisher.publish(bytes(range(256)) * 36)
        frame = self.receive(subscriber)
        tensor = torch.from_numpy(numpy.array(frame))
        tensor[:] = 7
        self.assertEqual(bytes(frame)[:4], bytes(range(4)))

    def test_buffer_without_a_copy_keeps_the_lease(self) -> None:
        publisher, subscriber = self.pair()
        publisher.publish(bytes(range(256)) * 36)
        frame = self.receive(subscriber)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            tensor = torch.frombuffer(frame.data, dtype=torch.uint8)
        self.assertIn("not writable", str(caught[0].message))
        self.assertEqual(int(tensor[300]), 300 % 256)
        del frame
        self.assertEqual(subscriber.status().held_leases, 1)
        del tensor
        self.assertEqual(subscriber.status().held_leases, 0)

    def test_kernel_stops_a_write_that_ignores_the_flag(self) -> None:
        publisher, _ = self.pair()
        publisher.publish(bytes(range(256)) * 36)
        victim = self.python(
            """
            import warnings, torch
            warnings.simplefilter("ignore")
            subscriber = framebus.Subscriber(group, "canvas")
            frame = subscriber.receive(timeout=60)
            torch.frombuffer(frame.data, dtype=torch.uint8)[0] = 9
            """
        )
        self.output_of(victim, -signal.SIGSEGV)

    def test_loan_is_a_tensor_in_its_slot(self) -> None:
        publisher, subscriber = self.pair()
        with publisher.loan() as loan:
            tensor = torch.from_dlpack(loan)
            tensor[:] = 5
            # A tensor could change what others read already.
            self.assertRaises(BufferError, loan.publish)
            del tensor
        self.assertEqual(set(bytes(self.receive(subscriber))), {5})


if __name__ == "__main__":
    unittest.main()
