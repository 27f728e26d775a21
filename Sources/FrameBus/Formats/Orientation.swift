/// How a picture lies in memory, by the numbers of TIFF and EXIF: which side of the upright picture
/// the first row and the first column are. The bus carries it; who shows the picture applies it.
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

  /// Where a rectangle of the picture in memory, which has these sides, lies in the upright one.
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
