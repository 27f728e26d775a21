/// The orientation of a picture in memory, with the numbers of TIFF and EXIF: the sides of the
/// upright picture where its first row and first column are. The viewer applies it, not the bus.
public enum Orientation: UInt8, Hashable, Sendable, CaseIterable {
  /// First row top, first column left.
  case up = 1
  /// Top, right.
  case upMirrored
  /// Bottom, right: turned by 180°.
  case down
  /// Bottom, left.
  case downMirrored
  /// Left, top.
  case leftMirrored
  /// Right, top: upright once turned by 90° clockwise.
  case right
  /// Right, bottom.
  case rightMirrored
  /// Left, bottom: upright once turned by 90° counterclockwise.
  case left

  /// Whether the rows in memory are columns of the upright picture.
  public var swapsSides: Bool { rawValue >= Orientation.leftMirrored.rawValue }

  /// Converts a rectangle from a picture in memory of this size to the upright picture.
  public func upright(_ rect: PixelRect, width: Int, height: Int) -> PixelRect {
    let fromRight = width - rect.x - rect.width
    let fromBottom = height - rect.y - rect.height
    let (x, y) =
      switch self {
      case .up: (rect.x, rect.y)
      case .upMirrored: (fromRight, rect.y)
      case .down: (fromRight, fromBottom)
      case .downMirrored: (rect.x, fromBottom)
      case .leftMirrored: (rect.y, rect.x)
      case .right: (fromBottom, rect.x)
      case .rightMirrored: (fromBottom, fromRight)
      case .left: (rect.y, fromRight)
      }
    return swapsSides
      ? PixelRect(x: x, y: y, width: rect.height, height: rect.width)
      : PixelRect(x: x, y: y, width: rect.width, height: rect.height)
  }
}
