#if Media
  // CaptureGStreamer: video files, and whatever else a GStreamer pipeline ends in.
  //
  // The pipeline's last converting or decoding element allocates its frames in our slots
  // (CSlotSink.h), so that a frame is published where it was decoded. One thread owns the
  // publisher; the pipeline's threads only fill memory they were offered. The module refuses to
  // encode anything: Upload does that.
#endif
