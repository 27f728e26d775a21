// Capture: what every source of frames shares, and the sources that need no foreign library.
//
// A `FrameSource` owns its publisher while it runs; a `CaptureRunner` runs it and reports on it.
// The module refuses to know where frames go, and to touch a screen or a codec: CaptureX11 and
// CaptureGStreamer do.
