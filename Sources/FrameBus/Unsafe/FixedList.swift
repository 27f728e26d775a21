/// A list of a fixed capacity of plain values, allocated once. It avoids an array's checks for
/// uniqueness and growth on the hot path.
@safe struct FixedList<Element: BitwiseCopyable>: ~Copyable {
  /// SAFETY: room for `capacity` elements, the first `count` initialised; freed in deinit.
  private let base: UnsafeMutablePointer<Element>
  private let capacity: Int
  private(set) var count = 0

  init(capacity: Int) {
    self.capacity = capacity
    unsafe base = .allocate(capacity: capacity)
  }

  init(repeating element: Element, count: Int) {
    self.init(capacity: count)
    unsafe base.initialize(repeating: element, count: count)
    self.count = count
  }

  deinit { unsafe base.deallocate() }

  subscript(index: Int) -> Element {
    @inline(__always) get {
      precondition(index >= 0 && index < count, "element \(index) out of \(count)")
      return unsafe base[index]
    }
    @inline(__always) set {
      precondition(index >= 0 && index < count, "element \(index) out of \(count)")
      unsafe base[index] = newValue
    }
  }

  @inline(__always)
  mutating func append(_ element: Element) {
    precondition(count < capacity, "no room for more than \(capacity)")
    unsafe (base + count).initialize(to: element)
    count += 1
  }

  @inline(__always)
  mutating func popLast() -> Element? {
    guard count > 0 else { return nil }
    count -= 1
    return unsafe base[count]
  }

  mutating func removeLast(_ surplus: Int) {
    precondition(surplus >= 0 && surplus <= count, "\(surplus) out of \(count)")
    count -= surplus
  }

  mutating func removeAll() { count = 0 }

  @inline(__always)
  func contains(where predicate: (Element) -> Bool) -> Bool {
    for index in 0..<count where unsafe predicate(base[index]) { return true }
    return false
  }
}
