import FrameBus

/// A lease that several holders share: the slot is released when the last of them lets go.
///
/// A destination keeps it while an element reads the pixels, on whatever thread that is; the
/// runner keeps the newest one to send it again while the screen stands still.
public typealias HeldFrame = SharedLease
