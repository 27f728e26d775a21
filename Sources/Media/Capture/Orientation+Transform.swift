import FrameBus

extension Orientation {
  /// - Parameter transform: `wl_output.transform`, or PipeWire's `SPA_META_VideoTransform`: what
  ///   was done to an upright picture to get the one in memory, counterclockwise, after flipping
  ///   left and right from 4 on. Other numbers mean nothing was done.
  package init(transform: Int32) {
    let inMemory: [Orientation] = [
      .up, .right, .down, .left, .upMirrored, .leftMirrored, .downMirrored, .rightMirrored,
    ]
    self = inMemory.indices.contains(Int(transform)) ? inMemory[Int(transform)] : .up
  }
}
