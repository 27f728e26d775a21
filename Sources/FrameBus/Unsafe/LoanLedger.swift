/// What a publisher has on loan: one record for each loan that can be out at once.
///
/// A loan is a number in this ledger. So what it carries stays where it is when the loan moves, and
/// a loan like the one before it touches no reference count. For the publishing thread alone.
@safe struct LoanLedger: ~Copyable {
  /// Never copied: the compiler would do so for a call of a method, references and all.
  struct Record: ~Copyable {
    fileprivate(set) var pool: Pool {
      didSet { slotBytes = pool.slotBytes }
    }
    fileprivate(set) var slot = 0
    fileprivate(set) var slotBytes: Int
    var format: FrameFormat
    /// The publisher's version of that format; 0 if the loan was given one of its own.
    var formatVersion: UInt64 = 0
    /// Means nothing until it is looked at or set.
    var metadata = FrameMetadata.now(0)
    var hasMetadata = false
    /// −1 while the loan is out.
    fileprivate var nextFree: Int
  }

  /// SAFETY: `capacity` records, initialised in init and freed in deinit.
  private let records: UnsafeMutablePointer<Record>
  private let capacity: Int
  private var firstFree = 0
  private(set) var outCount = 0

  init(capacity: Int, pool: Pool, format: FrameFormat) {
    self.capacity = capacity
    unsafe records = .allocate(capacity: capacity)
    for index in 0..<capacity {
      unsafe (records + index).initialize(
        to: Record(
          pool: pool, slotBytes: pool.slotBytes, format: format, nextFree: index + 1))
    }
  }

  deinit {
    unsafe records.deinitialize(count: capacity)
    unsafe records.deallocate()
  }

  subscript(index: Int) -> Record {
    @inline(__always) unsafeAddress { unsafe UnsafePointer(records + index) }
    @inline(__always) unsafeMutableAddress { unsafe records + index }
  }

  /// The loans that are out.
  var out: [Int] { (0..<capacity).filter { self[$0].nextFree < 0 } }

  /// Enters a loan of a slot, in the format that the record had last. There must be one left.
  @inline(__always)
  mutating func enter(_ slot: Int, of pool: Pool) -> Int {
    precondition(outCount < capacity, "loan \(outCount) out of \(capacity)")
    let index = firstFree
    firstFree = self[index].nextFree
    self[index].nextFree = -1
    outCount += 1
    self[index].slot = slot
    if self[index].pool !== pool { self[index].pool = pool }
    self[index].hasMetadata = false
    return index
  }

  /// Strikes out a loan that was published or abandoned.
  @inline(__always)
  mutating func strike(_ index: Int) {
    self[index].nextFree = firstFree
    firstFree = index
    outCount -= 1
  }
}
