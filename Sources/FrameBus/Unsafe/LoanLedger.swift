/// The publisher's loans: one record for each of `maxLoans` loans.
///
/// A loan is an index into this ledger. So its data does not move with the loan, and a loan with
/// the same pool and format as the previous one touches no reference count. Used by the publishing
/// thread alone.
@safe struct LoanLedger: ~Copyable {
  /// Noncopyable, because the compiler would copy it, references included, for a method call.
  struct Record: ~Copyable {
    fileprivate(set) var pool: Pool {
      didSet { slotBytes = pool.slotBytes }
    }
    fileprivate(set) var slot = 0
    fileprivate(set) var slotBytes: Int
    var format: FrameFormat
    /// The publisher's version of that format; 0 if the format was set on the loan.
    var formatVersion: UInt64 = 0
    /// Undefined unless `hasMetadata`.
    var metadata = FrameMetadata.now(0)
    var hasMetadata = false
    /// The next free record; −1 while this one is in use.
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

  /// The loans that are in use.
  var out: [Int] { (0..<capacity).filter { self[$0].nextFree < 0 } }

  /// Adds a loan of a slot, with the record's last format. The ledger must not be full.
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

  /// Removes a loan that was published or abandoned.
  @inline(__always)
  mutating func strike(_ index: Int) {
    self[index].nextFree = firstFree
    firstFree = index
    outCount -= 1
  }
}
