"""Finds the edges of a stream's pictures with PyTorch, and publishes them as the stream "edges".

    python edges.py [STREAM]

PyTorch has no read-only tensors, so a received frame is copied once; a loan is a tensor in its slot.
"""

import sys

import framebus
import numpy as np
import torch

group = framebus.Group()
kernel = torch.tensor([[-1.0, -1, -1], [-1, 8, -1], [-1, -1, -1]])[None, None]
stream = sys.argv[1] if len(sys.argv) > 1 else "screen"
publisher = None
with framebus.Subscriber(group, stream, timeout=60) as subscriber:
    for frame in subscriber:
        picture = torch.from_numpy(np.array(frame))
        frame.release()
        grey = picture[..., :3].float().mean(dim=2)[None, None]
        edges = torch.nn.functional.conv2d(grey, kernel, padding=1).abs().clamp(max=255)[0, 0]
        format = framebus.Format.video(framebus.XRGB8888, edges.shape[1], edges.shape[0])
        if publisher is None:
            publisher = framebus.Publisher(group, "edges", format)
        publisher.set_format(format)
        with publisher.loan() as loan:
            torch.from_dlpack(loan)[:] = edges[..., None].byte()
        print(f"frame {frame.sequence}: {int((edges > 64).sum())} pixels of edges", flush=True)
