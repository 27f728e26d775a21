"""Frames between the processes of one Linux application, without a copy.

A publisher writes each frame into shared memory; subscribers in other processes read it in place,
as read-only arrays::

    import framebus
    import numpy as np

    group = framebus.Group()
    with framebus.Publisher(group, "canvas", framebus.Format.video("XR24", 640, 360)) as publisher:
        with publisher.loan() as loan:
            np.asarray(loan)[:] = 128

    for frame in framebus.Subscriber(group, "canvas", timeout=60):
        print(frame.sequence, np.asarray(frame).mean())
"""

from __future__ import annotations

from typing import Final

from framebus._errors import *  # noqa: F403
from framebus._errors import __all__ as _errors
from framebus._frames import Subscriber, deliveries
from framebus._log import LogHandler
from framebus._native import (
    Format,
    Frame,
    Group,
    Loan,
    Log,
    Notifications,
    Observation,
    Plane,
    Publisher,
    Secret,
    Semaphore,
    Settings,
    SettingsObservation,
    now_ns,
)
from framebus._types import *  # noqa: F403
from framebus._types import __all__ as _types

XRGB8888: Final = "XR24"
"""Bytes B, G, R, unused."""
ARGB8888: Final = "AR24"
"""Bytes B, G, R, A."""
XBGR8888: Final = "XB24"
"""Bytes R, G, B, unused."""
ABGR8888: Final = "AB24"
"""Bytes R, G, B, A."""
BGR888: Final = "BG24"
"""Bytes R, G, B."""
YUYV: Final = "YUYV"
NV12: Final = "NV12"
YUV420: Final = "YU12"

KEY_FRAME: Final = 1
"""Decodes without earlier frames; implied for raw pictures."""
DISCONTINUITY: Final = 2
"""Time or content jumps here."""
SILENCE: Final = 4
PROTECTED: Final = 8
"""Parts were blanked: they must not be recorded."""
REPEATED: Final = 16
"""The same picture as before."""
DROPPABLE: Final = 32
CONFIGURATION: Final = 64
"""Parameter sets alone."""
REDUCED: Final = 128
"""Smaller than the source, as nobody needs more."""

__all__ = [
    "ABGR8888",
    "ARGB8888",
    "BGR888",
    "CONFIGURATION",
    "DISCONTINUITY",
    "DROPPABLE",
    "Format",
    "Frame",
    "Group",
    "KEY_FRAME",
    "Loan",
    "Log",
    "LogHandler",
    "NV12",
    "Notifications",
    "Observation",
    "PROTECTED",
    "Plane",
    "Publisher",
    "REDUCED",
    "REPEATED",
    "SILENCE",
    "Secret",
    "Semaphore",
    "Settings",
    "SettingsObservation",
    "Subscriber",
    "XBGR8888",
    "XRGB8888",
    "YUV420",
    "YUYV",
    "deliveries",
    "now_ns",
    *_errors,
    *_types,
]
