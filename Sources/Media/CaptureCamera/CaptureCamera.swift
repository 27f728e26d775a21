// CaptureCamera: the pictures of a camera (Video4Linux), written by its driver straight into the
// slots where the driver can, else copied once.
//
// Needs no library. It refuses to decode: a camera that only delivers encoded pictures is left to
// CaptureGStreamer. Nor does it believe a driver: sizes, strides, indices and times are checked
// before they are used.
