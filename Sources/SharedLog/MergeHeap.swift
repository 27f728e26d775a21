/// The runs that have a next line, earliest first: a binary heap.
struct MergeHeap {
  struct Head {
    /// When the machine booted: monotonic times are comparable within one boot only.
    let bootNs: UInt64
    let monotonicNs: UInt64
    let name: String
    let run: RunReader

    fileprivate func isBefore(_ other: Head) -> Bool {
      if bootNs != other.bootNs { return bootNs < other.bootNs }
      if monotonicNs != other.monotonicNs { return monotonicNs < other.monotonicNs }
      return name < other.name
    }
  }

  private var heads: [Head] = []

  var first: Head? { heads.first }

  mutating func insert(_ head: Head) {
    heads.append(head)
    var index = heads.count - 1
    while index > 0, heads[index].isBefore(heads[(index - 1) / 2]) {
      heads.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  mutating func replaceFirst(with head: Head) {
    heads[0] = head
    sink()
  }

  mutating func removeFirst() {
    guard let last = heads.popLast(), !heads.isEmpty else { return }
    heads[0] = last
    sink()
  }

  private mutating func sink() {
    var index = 0
    while true {
      var least = index
      for child in 2 * index + 1..<min(2 * index + 3, max(2 * index + 1, heads.count)) {
        if heads[child].isBefore(heads[least]) { least = child }
      }
      if least == index { return }
      heads.swapAt(index, least)
      index = least
    }
  }
}
