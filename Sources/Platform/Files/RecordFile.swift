import Glibc

/// A file of fixed-size records to which several processes append, under a lock that is held while
/// the value exists.
package struct RecordFile: ~Copyable {
  private let lock: FileLock
  private let path: String
  private let recordBytes: Int
  /// The number of complete records.
  package private(set) var count: Int

  /// Opens an existing file.
  /// - Returns: nil if another process holds its lock until the deadline.
  package static func open(
    _ name: String, in directory: borrowing Directory, recordBytes: Int, ownerID: UInt32,
    until deadline: Deadline
  ) throws(SystemError) -> RecordFile? {
    let path = directory.path(of: name)
    let lock = try FileLock.take(
      name, in: directory, ownerID: ownerID, isMaking: false, until: deadline)
    guard let lock else { return nil }
    let count = try fileStatus(of: lock.file, path: path).byteCount / recordBytes
    return RecordFile(lock: lock, path: path, recordBytes: recordBytes, count: count)
  }

  private init(lock: consuming FileLock, path: String, recordBytes: Int, count: Int) {
    self.lock = lock
    self.path = path
    self.recordBytes = recordBytes
    self.count = count
  }

  /// The bytes of a record; fewer if the file is shorter.
  package borrowing func record(_ index: Int) throws(SystemError) -> [UInt8] {
    var bytes: [UInt8] = Array(repeating: 0, count: recordBytes)
    let offset = index * recordBytes
    let number = lock.file.number
    // SAFETY: the kernel writes at most the array's own length.
    let count = unsafe bytes.withUnsafeMutableBytes {
      unsafe pread(number, $0.baseAddress, $0.count, offset)
    }
    if count < 0 { throw .last("pread", path: path) }
    return Array(bytes[..<count])
  }

  /// Appends a record, overwriting a partial record of a process that died.
  package mutating func append(_ record: [UInt8]) throws(SystemError) {
    precondition(record.count == recordBytes, "a record of \(record.count) bytes")
    let offset = count * recordBytes
    let number = lock.file.number
    // SAFETY: the kernel reads the array's own length.
    let written = unsafe record.withUnsafeBytes {
      unsafe pwrite(number, $0.baseAddress, $0.count, offset)
    }
    if written < 0 { throw .last("pwrite", path: path) }
    guard written == record.count else {
      throw SystemError(code: ENOSPC, operation: "pwrite", path: path)
    }
    count += 1
  }
}
