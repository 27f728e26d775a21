import FrameBus

/// A lease that several holders share: the slot is released when the last holder releases it.
///
/// A destination keeps it while an element reads the pixels, on any thread; the runner keeps the
/// newest one to send it again while the screen does not change.
public typealias HeldFrame = SharedLease
