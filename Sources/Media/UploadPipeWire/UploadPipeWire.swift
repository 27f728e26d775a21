#if Media
  // UploadPipeWire: a stream as a camera of PipeWire, for browsers and meeting programs.
  //
  // Readers get pictures of their own: a slot is read once for all of them, and no reader keeps it.
  // The module refuses to wait for a reader, and to encode.
#endif
