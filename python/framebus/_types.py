"""Values that framebus returns."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple, Optional

if TYPE_CHECKING:
    from framebus._native import Format

__all__ = [
    "Delivery",
    "Metadata",
    "PublisherStatus",
    "Rect",
    "StreamStatus",
    "SubscriberStatus",
]


class Rect(NamedTuple):
    """A rectangle in pixels of the picture in memory, from its top left corner."""

    x: int
    y: int
    width: int
    height: int


class Metadata(NamedTuple):
    """What a publisher says of a frame."""

    pts_ns: int
    """Presentation time."""
    duration_ns: int
    """0 is unknown."""
    captured_at_ns: int
    """CLOCK_MONOTONIC; 0 if it was not captured but read."""
    flags: int
    """KEY_FRAME and others, added."""
    orientation: int
    """1 to 8 as in EXIF; 1 is upright. The viewer applies it."""
    crop: Optional[Rect]
    """The visible part; None for all of it."""
    damage: Optional[tuple[Rect, ...]]
    """What changed since the frame received before; None if everything, or if unknown."""


class PublisherStatus(NamedTuple):
    """Figures of a stream that this process publishes."""

    published_count: int
    join_count: int
    """Subscribers that ever came: publish a frame for each new one."""
    subscriber_count: int
    loan_count: int
    demanded_width: int
    """The most that any subscriber needs; 0 is everything."""
    demanded_height: int
    demanded_rate: Optional[Fraction]
    highest_utilization: float
    """0 to 1, as subscribers report."""


class SubscriberStatus(NamedTuple):
    """Counts of frames, and the state of the stream."""

    received_count: int
    dropped_count: int
    drops: dict[str, int]
    """Dropped frames by reason."""
    lag_frames: int
    """Published, and neither received nor dropped."""
    generation: int
    """Of the publisher; 0 while there is none."""
    granted_leases: int
    held_leases: int
    pause_reason: str
    end_reason: str
    content: str
    application: str
    """Which the frames show; "" if unknown."""
    lossless_ended: bool
    """It was too slow, and frames can be dropped since."""
    eviction_count: int
    successor_count: int
    """Times that it attached to another publisher."""


class StreamStatus(NamedTuple):
    """A stream of a group."""

    name: str
    state: str
    """starting, live, paused, finished, or silent: then only name and pid are known."""
    pause_reason: str
    content: str
    format: Optional[Format]
    application: str
    subscriber_count: int
    publisher_pid: int
    """0 if unknown."""
    generation: int
    published_count: int
    published_bytes: int
    memory_bytes: int


class Delivery(NamedTuple):
    """Posts of a notification that arrived together."""

    total_count: int
    """Posts of the name until now."""
    coalesced_count: int
    """Posts in this delivery."""
    state: int
    """The 64 bits of the name."""
    poster_pid: Optional[int]
    """Of a single post, as the kernel told. Do not signal it: it may have ended."""
    poster_uid: Optional[int]
    is_reset: bool
    """Counting began anew."""
