/// The sizes of pictures that a consumer converts or encodes.
///
/// The bus itself carries pictures of any size, in the publisher's memory. A consumer allocates its
/// own memory in proportion to a size that another process chooses, so it checks these limits
/// first.
package struct PictureLimits: Hashable, Sendable {
  /// The most macroblocks (16×16 pixels) of one picture: the limit of level 6.2, H.264's highest
  /// (ITU-T H.264, table A-1), such as 8192×4352 pixels.
  private static let maximumMacroblocks = 139_264
  private static let macroblockSide = 16

  /// For width and height, in pixels.
  package let sides: ClosedRange<Int>

  package init(sides: ClosedRange<Int>) { self.sides = sides }

  /// Every side that the bus carries.
  package static let any = PictureLimits(sides: 1...FrameFormat.maximumSide)

  package func contain(width: Int, height: Int) -> Bool {
    sides.contains(width) && sides.contains(height)
      && Self.macroblocks(width) * Self.macroblocks(height) <= Self.maximumMacroblocks
  }

  private static func macroblocks(_ side: Int) -> Int {
    (side + macroblockSide - 1) / macroblockSide
  }
}

extension PictureLimits: CustomStringConvertible {
  package var description: String {
    "sides of \(sides.lowerBound) to \(sides.upperBound) pixels, and in all at most "
      + "\(Self.maximumMacroblocks) blocks of 16×16, such as 8192×4352"
  }
}
