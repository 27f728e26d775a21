#if Media
  // CaptureX11: the screen of an X11 display, written by the X server straight into the pool.
  //
  // The server maps the pool (MIT-SHM `attach_fd`) before it is sealed, and GetImage names the
  // loaned slot by its offset: the pixels never pass through this process. DAMAGE reports changes,
  // XFIXES the cursor, RANDR a new resolution. The module refuses to create windows and to use a
  // toolkit.
#endif
