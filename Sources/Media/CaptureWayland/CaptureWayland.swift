#if Media
  // CaptureWayland: an output or window of a Wayland compositor, written by the compositor straight
  // into the pool.
  //
  // The compositor maps the pool (`wl_shm`) before it is sealed, and each buffer is a loaned slot:
  // the pixels never pass through this process. ext-image-copy-capture or wlr-screencopy reports
  // what changed and waits for it. The module refuses to create windows, and to ask a user for
  // consent, as a portal does.
#endif
