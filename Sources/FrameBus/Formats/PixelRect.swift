/// A rectangle of pixels, from its top left corner. Empty unless both sides are positive.
public struct PixelRect: Hashable, Sendable {
  /// The column of the left edge.
  public var x: Int
  /// The row of the top edge.
  public var y: Int
  /// Columns.
  public var width: Int
  /// Rows.
  public var height: Int

  /// A rectangle by its top left corner and its size, in pixels.
  public init(x: Int, y: Int, width: Int, height: Int) {
    self.x = x
    self.y = y
    self.width = width
    self.height = height
  }

  /// Whether it has no pixel.
  public var isEmpty: Bool { width <= 0 || height <= 0 }

  /// Whether another rectangle lies completely inside.
  public func contains(_ other: PixelRect) -> Bool {
    other.isEmpty || intersection(other) == other
  }

  /// The intersection; all 0 if it is empty.
  public func intersection(_ other: PixelRect) -> PixelRect {
    let left = max(x, other.x)
    let top = max(y, other.y)
    let right = min(x.saturatingAdd(width), other.x.saturatingAdd(other.width))
    let bottom = min(y.saturatingAdd(height), other.y.saturatingAdd(other.height))
    guard left < right, top < bottom else { return PixelRect(x: 0, y: 0, width: 0, height: 0) }
    return PixelRect(x: left, y: top, width: right - left, height: bottom - top)
  }

  /// The smallest rectangle around both. Neither may be empty.
  package func spanning(_ other: PixelRect) -> PixelRect {
    let left = min(x, other.x)
    let top = min(y, other.y)
    let right = max(x + width, other.x + other.width)
    let bottom = max(y + height, other.y + other.height)
    return PixelRect(x: left, y: top, width: right - left, height: bottom - top)
  }

  var area: Int { width * height }

  /// The range of coordinates on the board.
  static let board = PixelRect(
    x: 0, y: 0, width: FrameFormat.maximumSide, height: FrameFormat.maximumSide)

  /// Four 16-bit numbers, x lowest. The rectangle must lie inside `board`.
  var packed: UInt64 { [height, width, y, x].reduce(0) { $0 << 16 | UInt64(UInt16($1)) } }

  init(packed: UInt64) {
    func part(_ index: Int) -> Int { Int(packed >> (16 * index) & 0xffff) }
    self.init(x: part(0), y: part(1), width: part(2), height: part(3))
  }
}

extension Int {
  fileprivate func saturatingAdd(_ other: Int) -> Int {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other > 0 ? .max : .min) : sum
  }
}
