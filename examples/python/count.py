"""Prints the mean brightness of each frame, which it reads in place."""

import framebus
import numpy as np

group = framebus.Group()
with framebus.Subscriber(group, "canvas", timeout=60) as subscriber:
    for frame in subscriber:
        picture = np.asarray(frame)  # read-only, no copy
        print(f"frame {frame.sequence}, {picture.shape}: {picture.mean():.1f}", flush=True)
    print(subscriber.status().dropped_count, "dropped")
