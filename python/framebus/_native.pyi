"""The extension module over libframebus."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from types import TracebackType
from typing import Any, Literal, Optional, Union, final

from typing_extensions import Buffer, CapsuleType, Self, disjoint_base

from framebus._types import Metadata, PublisherStatus, StreamStatus, SubscriberStatus

_Kind = Literal["video", "app-audio", "mic-audio", "data"]
_Range = Literal["unspecified", "limited", "full"]
_Samples = Literal[
    "u8",
    "s8",
    "s16le",
    "s16be",
    "s24le",
    "s24be",
    "s24in32le",
    "s24in32be",
    "s32le",
    "s32be",
    "f32le",
    "f32be",
    "f64le",
    "f64be",
]
_Content = Literal["other", "screen", "window"]
_Policy = Literal["latest", "keep-latest", "lossless", "every-nth", "key-frames"]
_Start = Literal["newest", "next", "oldest", "key-frame"]
_End = Literal["none", "ended", "stopped", "failed"]
_Pause = Literal["requested", "transition", "unavailable"]
_Wait = Literal["descriptor", "futex", "spin"]
_Rate = Union[int, Fraction, None]
_Rect = Sequence[int]

def now_ns() -> int: ...

@final
class Format:
    @staticmethod
    def video(
        fourcc: str,
        width: int,
        height: int,
        *,
        rate: _Rate = None,
        primaries: int = 2,
        transfer: int = 2,
        matrix: int = 2,
        range: _Range = "unspecified",
    ) -> Format: ...
    @staticmethod
    def audio(
        samples: _Samples,
        rate: int,
        channels: int,
        maximum_frames: int,
        *,
        kind: _Kind = "app-audio",
        planar: bool = False,
    ) -> Format: ...
    @staticmethod
    def data(
        byte_count: int,
        *,
        fourcc: str = ...,
        kind: _Kind = "data",
        width: int = 0,
        height: int = 0,
        rate: _Rate = None,
    ) -> Format: ...
    @property
    def kind(self) -> str: ...
    @property
    def fourcc(self) -> str: ...
    @property
    def byte_count(self) -> int: ...
    @property
    def width(self) -> int: ...
    @property
    def height(self) -> int: ...
    @property
    def rate(self) -> Optional[Fraction]: ...
    @property
    def planes(self) -> tuple[tuple[int, int], ...]: ...
    @property
    def primaries(self) -> int: ...
    @property
    def transfer(self) -> int: ...
    @property
    def matrix(self) -> int: ...
    @property
    def range(self) -> str: ...
    @property
    def samples(self) -> Optional[str]: ...
    @property
    def sample_rate(self) -> int: ...
    @property
    def channels(self) -> int: ...
    @property
    def planar(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

class _Array:
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: Optional[tuple[int, int]] = None,
        dl_device: Optional[tuple[int, int]] = None,
        copy: Optional[bool] = None,
    ) -> CapsuleType: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...

@final
class Plane(_Array):
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def strides(self) -> tuple[int, ...]: ...

@final
class Frame(_Array):
    @property
    def byte_count(self) -> int: ...
    @property
    def sequence(self) -> int: ...
    @property
    def generation(self) -> int: ...
    @property
    def dropped_before(self) -> int: ...
    @property
    def pts_ns(self) -> int: ...
    @property
    def captured_at_ns(self) -> int: ...
    @property
    def published_at_ns(self) -> int: ...
    @property
    def flags(self) -> int: ...
    @property
    def format(self) -> Format: ...
    @property
    def metadata(self) -> Metadata: ...
    @property
    def planes(self) -> tuple[Plane, ...]: ...
    @property
    def data(self) -> memoryview: ...
    @property
    def checksum(self) -> Optional[int]: ...
    @property
    def released(self) -> bool: ...
    def release(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: Optional[type[BaseException]] = None,
        error: Optional[BaseException] = None,
        trace: Optional[TracebackType] = None,
        /,
    ) -> None: ...

@disjoint_base
class Group:
    def __new__(cls, id: Optional[str] = None, root: Optional[str] = None) -> Self: ...
    def streams(self, timeout: Optional[float] = None) -> list[StreamStatus]: ...
    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: Optional[type[BaseException]] = None,
        error: Optional[BaseException] = None,
        trace: Optional[TracebackType] = None,
        /,
    ) -> None: ...

@final
class Loan(_Array):
    @property
    def format(self) -> Format: ...
    @property
    def planes(self) -> tuple[Plane, ...]: ...
    @property
    def data(self) -> memoryview: ...
    def publish(
        self,
        *,
        pts_ns: int = ...,
        duration_ns: int = ...,
        captured_at_ns: int = ...,
        flags: int = ...,
        orientation: int = ...,
        crop: Optional[_Rect] = None,
        damage: Optional[Iterable[_Rect]] = None,
        byte_count: Optional[int] = None,
    ) -> int: ...
    def abandon(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: Optional[type[BaseException]] = None,
        error: Optional[BaseException] = None,
        trace: Optional[TracebackType] = None,
        /,
    ) -> None: ...

@disjoint_base
class Publisher:
    def __new__(
        cls,
        group: Group,
        name: str,
        format: Format,
        *,
        content: _Content = "other",
        ring_depth: int = 0,
        loans: int = 0,
        slot_bytes: int = 0,
        pool_bytes: int = 0,
        hold_quota: int = 0,
        lossless: bool = False,
        checksums: bool = False,
        seats_per_user: int = 0,
    ) -> Self: ...
    @property
    def closed(self) -> bool: ...
    @property
    def format(self) -> Format: ...
    def loan(self, timeout: Optional[float] = None) -> Loan: ...
    def publish(
        self,
        data: Buffer,
        /,
        *,
        pts_ns: int = ...,
        duration_ns: int = ...,
        captured_at_ns: int = ...,
        flags: int = ...,
        orientation: int = ...,
        crop: Optional[_Rect] = None,
        damage: Optional[Iterable[_Rect]] = None,
        byte_count: Optional[int] = None,
    ) -> int: ...
    def set_format(self, format: Format, /) -> None: ...
    def pause(self, reason: _Pause = "requested") -> None: ...
    def resume(self) -> None: ...
    def set_application(self, application: Optional[str], /) -> None: ...
    def wait(self, timeout: Optional[float] = None) -> bool: ...
    def fileno(self) -> int: ...
    def status(self) -> PublisherStatus: ...
    def close(self, reason: _End = "ended") -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: Optional[type[BaseException]] = None,
        error: Optional[BaseException] = None,
        trace: Optional[TracebackType] = None,
        /,
    ) -> None: ...

@disjoint_base
class Subscriber:
    def __new__(
        cls,
        group: Group,
        name: str,
        *,
        policy: _Policy = "latest",
        count: int = 0,
        start: _Start = "newest",
        lossless_limit: float = 10,
        leases: int = 4,
        verify_checksums: bool = False,
        timeout: Optional[float] = 0,
        wait: _Wait = "descriptor",
    ) -> Self: ...
    @property
    def closed(self) -> bool: ...
    @property
    def finished(self) -> bool: ...
    def receive(self, timeout: Optional[float] = None) -> Optional[Frame]: ...
    def poll(self) -> Optional[Frame]: ...
    def fileno(self) -> int: ...
    def status(self) -> SubscriberStatus: ...
    def set_demand(self, width: int = 0, height: int = 0, rate: _Rate = None) -> None: ...
    def set_utilization(self, utilization: float, /) -> None: ...
    def close(self) -> None: ...
    def __iter__(self) -> Self: ...
    def __next__(self) -> Frame: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: Optional[type[BaseException]] = None,
        error: Optional[BaseException] = None,
        trace: Optional[TracebackType] = None,
        /,
    ) -> None: ...
