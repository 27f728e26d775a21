import AppGroup
import CSemaphoreLayout
import Platform

/// The mapped file of one semaphore. Any member may write anything into it or truncate it at any
/// time, so each value read from it is checked.
struct SemaphoreFile: ~Copyable, Sendable {
  let name: SemaphoreName
  let descriptor: Descriptor
  let memory: GuardedMapping
  let isRecoverable: Bool
  let initialValue: Int
  let ownerID: UInt32

  /// The highest count.
  static func maximumValue(isRecoverable: Bool) -> Int {
    isRecoverable ? Int(GS_PERMITS) : semaphoreValueMaximum
  }

  var maximumValue: Int { Self.maximumValue(isRecoverable: isRecoverable) }

  static let byteCount = Int(GS_BYTES)

  /// Fills a new file, before it has its name.
  func initialize() throws(SystemError) {
    if isRecoverable {
      for index in 0..<initialValue { setPermitFree(index) }
    } else {
      try memory.initializeSemaphore(at: Int(GS_AT_POSIX), value: UInt32(initialValue))
    }
    let kind = isRecoverable ? GS_KIND_RECOVERABLE : GS_KIND_PLAIN
    // SYNC make/open: the file cannot be opened before its rename.
    memory.storeReleasing32(UInt32(kind), at: Int(GS_AT_KIND))
    memory.storeReleasing32(UInt32(initialValue), at: Int(GS_AT_INITIAL_VALUE))
    memory.storeReleasing32(UInt32(GS_ABI_VERSION), at: Int(GS_AT_ABI_VERSION))
    memory.storeReleasing64(GS_MAGIC, at: Int(GS_AT_MAGIC))
  }

  /// Reads and checks the header, which never changes.
  static func readHeader(
    _ memory: borrowing GuardedMapping, _ path: String
  ) throws(SemaphoreFileError) -> (isRecoverable: Bool, initialValue: Int) {
    // SYNC make/open: the header was written before the file had its name.
    let magic = memory.loadAcquiring64(at: Int(GS_AT_MAGIC))
    let version = memory.loadAcquiring32(at: Int(GS_AT_ABI_VERSION))
    let kind = memory.loadAcquiring32(at: Int(GS_AT_KIND))
    let initialValue = Int(memory.loadAcquiring32(at: Int(GS_AT_INITIAL_VALUE)))
    if magic != GS_MAGIC { throw .untrusted(path: path, why: "its magic number is wrong") }
    if version != UInt32(GS_ABI_VERSION) { throw .wrongVersion(path: path, version: version) }
    let isRecoverable = kind == UInt32(GS_KIND_RECOVERABLE)
    guard isRecoverable || kind == UInt32(GS_KIND_PLAIN),
      initialValue <= maximumValue(isRecoverable: isRecoverable)
    else { throw .untrusted(path: path, why: "its header is malformed") }
    return (isRecoverable, initialValue)
  }

  /// Checks that the file still has its name and its size, which only the kernel can tell reliably.
  /// Makes one system call.
  func requireExists() throws(SemaphoreError) {
    let status: FileStatus
    do {
      status = try fileStatus(of: descriptor, path: name.text)
    } catch {
      throw .system(error)
    }
    if status.linkCount == 0 { throw .removed(name) }
    if status.byteCount != Self.byteCount {
      throw .damaged(name, why: "its file has \(status.byteCount) bytes, not \(Self.byteCount)")
    }
    // SYNC make/open: as in `readHeader`.
    if memory.loadAcquiring64(at: Int(GS_AT_MAGIC)) != GS_MAGIC {
      throw .damaged(name, why: "its file's magic number is wrong")
    }
    try requireIntact()
  }

  /// Wakes one waiter.
  func wakeOne() { memory.wake(1, at: isRecoverable ? Int(GS_AT_BELL) : Int(GS_AT_POSIX)) }

  /// Checks that the last access was to the file, not to the zeros that replace truncated pages.
  func requireIntact() throws(SemaphoreError) {
    if memory.isLost { throw .damaged(name, why: "its file was truncated while in use") }
  }
}
