#if Media
  import CXCB
  import FrameBus

  extension CaptureTarget {
    /// Asks the server to write pixels to an offset of a segment. It checks that they fit.
    /// - Returns: the number of the request, for its answer.
    func requestPixels(
      _ area: PixelRect, into segment: xcb_shm_seg_t, at offset: UInt32
    ) -> UInt32 {
      // SAFETY: the connection is open as long as the screen lives.
      let cookie = unsafe xcb_shm_get_image(
        screen.connection.pointer, drawable, Int16(border + area.x), Int16(border + area.y),
        UInt16(area.width), UInt16(area.height), .max, UInt8(XCB_IMAGE_FORMAT_Z_PIXMAP.rawValue),
        segment, offset)
      return cookie.sequence
    }

    /// Asks the server for pixels in its answer.
    func requestPixels(_ area: PixelRect) -> UInt32 {
      // SAFETY: as above.
      let cookie = unsafe xcb_get_image(
        screen.connection.pointer, UInt8(XCB_IMAGE_FORMAT_Z_PIXMAP.rawValue), drawable,
        Int16(border + area.x), Int16(border + area.y), UInt16(area.width), UInt16(area.height),
        .max)
      return cookie.sequence
    }
  }
#endif
