/// The runs that have a next line, earliest first: a binary heap.
struct MergeHeap {
  struct Head {
    let monotonicNs: UInt64
    let run: RunReader

    fileprivate func isBefore(_ other: Head) -> Bool {
      // Monotonic times are comparable within one boot only.
      let (own, others) = (run.bootBeganNs, other.run.bootBeganNs)
      if own != others { return own < others }
      if monotonicNs != other.monotonicNs { return monotonicNs < other.monotonicNs }
      return run.run.name < other.run.run.name
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
