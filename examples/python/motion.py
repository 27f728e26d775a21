"""Prints where a stream's picture changes: an OpenCV motion detector.

    python motion.py [STREAM]
"""

import sys

import cv2
import framebus
import numpy as np

group = framebus.Group()
stream = sys.argv[1] if len(sys.argv) > 1 else "screen"
before = None
with framebus.Subscriber(group, stream, timeout=60) as subscriber:
    for frame in subscriber:
        # OpenCV reads the publisher's memory; the first copy is the grey picture, a quarter as large.
        grey = cv2.cvtColor(np.asarray(frame), cv2.COLOR_BGRA2GRAY)
        frame.release()
        if before is not None and before.shape == grey.shape:
            changed = cv2.threshold(cv2.absdiff(before, grey), 24, 255, cv2.THRESH_BINARY)[1]
            x, y, width, height = cv2.boundingRect(changed)
            if width:
                print(f"frame {frame.sequence}: {width}x{height}+{x}+{y}", flush=True)
        before = grey
