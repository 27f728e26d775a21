import CFrameLayout

/// The changed area of a picture: up to four rectangles, or everything. It covers every changed
/// pixel, and may cover unchanged ones.
public struct DamageRegion: Hashable, Sendable {
  /// The first `count` are rectangles; the others are 0.
  private var words = SIMD4<UInt64>()
  private var count = 0
  /// Whether it is the whole picture.
  public private(set) var isFull: Bool

  private static let capacity = Int(FB_MAXIMUM_DAMAGE)

  /// Nothing changed.
  public static var none: DamageRegion { DamageRegion(isFull: false) }
  /// Everything changed.
  public static var full: DamageRegion { DamageRegion(isFull: true) }

  private init(isFull: Bool) { self.isFull = isFull }

  /// The region of the rectangles. If there are more than four, some are merged.
  public init(_ rects: some Sequence<PixelRect>) {
    self = .none
    for rect in rects { insert(rect) }
  }

  /// The rectangles; empty if the region is full.
  public var rects: [PixelRect] { (0..<count).map { self[$0] } }

  /// Whether nothing changed.
  public var isEmpty: Bool { !isFull && count == 0 }

  private subscript(index: Int) -> PixelRect { PixelRect(packed: words[index]) }

  /// Adds a rectangle. Beyond the fourth, the two rectangles whose union adds the fewest unchanged
  /// pixels are merged. Parts beyond the largest picture are cut off.
  public mutating func insert(_ rect: PixelRect) {
    let rect = rect.intersection(.board)
    if isFull || rect.isEmpty { return }
    for index in (0..<count).reversed() {
      if self[index].contains(rect) { return }
      if rect.contains(self[index]) { remove(at: index) }
    }
    if count < Self.capacity { return append(rect) }
    var best = (first: 0, second: 0, waste: Int.max)
    for first in 0..<count {
      for second in (first + 1)...count {
        let (one, other) = (self[first], second < count ? self[second] : rect)
        let waste = one.spanning(other).area - one.area - other.area
        if waste < best.waste { best = (first, second, waste) }
      }
    }
    let merged = self[best.first].spanning(best.second < count ? self[best.second] : rect)
    // The higher index first, so that the lower index stays valid.
    if best.second < count {
      remove(at: best.second)
      remove(at: best.first)
      append(rect)
    } else {
      remove(at: best.first)
    }
    // The recursion ends: there is room now.
    insert(merged)
  }

  /// Adds all of another region.
  public mutating func formUnion(_ other: DamageRegion) {
    if isFull || other.isFull { self = .full }
    for index in 0..<other.count { insert(other[index]) }
  }

  /// The part inside a rectangle, in coordinates relative to its corner.
  public func clipped(to area: PixelRect) -> DamageRegion {
    if isFull || isEmpty { return self }
    var region = DamageRegion.none
    for index in 0..<count {
      var rect = self[index].intersection(area)
      rect.x -= area.x
      rect.y -= area.y
      region.insert(rect)
    }
    return region
  }

  private mutating func append(_ rect: PixelRect) {
    words[count] = rect.packed
    count += 1
  }

  private mutating func remove(at index: Int) {
    count -= 1
    words[index] = words[count]
    words[count] = 0
  }
}

extension DamageRegion {
  func store(into descriptor: inout fb_descriptor) {
    descriptor.damage_count = isFull ? UInt16(FB_DAMAGE_FULL) : UInt16(count)
    descriptor.damage = (words[0], words[1], words[2], words[3])
  }

  /// The region of another process's descriptor. An invalid number of rectangles means full.
  init(_ descriptor: fb_descriptor) {
    let claimed = Int(descriptor.damage_count)
    self.init(isFull: claimed > Self.capacity)
    if isFull { return }
    let all = descriptor.damage
    for word in [all.0, all.1, all.2, all.3].prefix(claimed) { insert(PixelRect(packed: word)) }
  }
}
