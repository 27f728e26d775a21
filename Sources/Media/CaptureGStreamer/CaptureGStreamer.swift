#if Media
  // CaptureGStreamer: captures video files and other GStreamer pipelines.
  //
  // The pipeline's last converting or decoding element allocates its frames in the pool's slots
  // (CSlotSink.h), so that a frame is published where it was decoded. One thread owns the
  // publisher; the pipeline's threads only fill memory that was offered to them. The module refuses
  // to encode anything: Upload does that.
#endif
