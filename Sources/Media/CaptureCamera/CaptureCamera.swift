// CaptureCamera: the pictures of a camera (Video4Linux), written by its driver straight into the
// slots where the driver can, else copied once.
//
// Needs no library. It refuses to decode: encoded pictures are handed to a decoder as they are
// (EncodedCamera). Nor does it believe a driver: sizes, strides, indices and times are checked
// before they are used.
