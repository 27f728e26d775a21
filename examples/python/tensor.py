"""Takes frames as tensors by DLPack: read-only, in the publisher's memory.

torch.from_dlpack and jax.dlpack.from_dlpack take a frame the same way. PyTorch has no read-only
tensors: give it a copy if anything writes to the tensor, torch.from_numpy(np.array(frame)).
"""

import framebus
import numpy as np

group = framebus.Group()
with framebus.Subscriber(group, "canvas", timeout=60) as subscriber:
    for frame in subscriber:
        tensor = np.from_dlpack(frame)
        print(f"frame {frame.sequence}: mean {tensor[..., :3].mean(axis=(0, 1))}", flush=True)
