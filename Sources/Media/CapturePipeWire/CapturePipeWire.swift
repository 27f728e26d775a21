#if Media
  // CapturePipeWire: pictures of a PipeWire node, such as a desktop's portal gives.
  //
  // libpipewire is loaded when it is first used. A picture is copied once, from the producer's
  // memory into its slot. The module refuses to choose a node by itself: the portal names one, so
  // that no camera takes the place of a screen.
#endif
