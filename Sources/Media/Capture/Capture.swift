// Capture: what all frame sources share, and the sources that need no foreign library.
//
// A `FrameSource` owns its publisher while it runs; a `CaptureRunner` runs it and reports its
// figures. The module refuses to know where frames go, and to access a screen or a codec:
// CaptureX11 and CaptureGStreamer do that. A capture protects windows if an option or the group's
// setting says so, a broadcast always: docs/decisions/0029-plain-capture-protects-on-request.md.
