import CLinuxShims
import Glibc

// Files that are interfaces of the kernel, not storage: /proc(5), cgroups(7).

/// The content of such a file; empty if it cannot be read.
package func kernelText(_ path: String) -> String {
  // SAFETY: the kernel reads the path during the call only.
  let number = unsafe open(path, O_RDONLY | O_CLOEXEC)
  guard number >= 0 else { return "" }
  let file = Descriptor(owning: number)
  var bytes: [UInt8] = []
  while let more = try? readSome(file.number), !more.isEmpty { bytes += more }
  return String(decoding: bytes, as: UTF8.self)
}

/// Writes text to such a file in one `write(2)`.
package func writeKernelText(_ text: String, _ path: String) throws(SystemError) {
  let number = try retryingInterrupts("open", path: path) {
    // SAFETY: the kernel reads the path during the call only.
    unsafe open(path, O_WRONLY | O_CLOEXEC)
  }
  let file = Descriptor(owning: number)
  try writeFully(Array(text.utf8), to: file.number)
}

/// Creates a control group, which appears as a directory.
package func makeControlGroup(_ path: String) throws(SystemError) {
  // SAFETY: the kernel reads the path during the call only.
  if unsafe mkdir(path, 0o755) != 0 { throw .last("mkdir", path: path) }
}

/// Removes a control group.
/// - Returns: false while there is a process in it.
@discardableResult
package func removeControlGroup(_ path: String) -> Bool {
  // SAFETY: the kernel reads the path during the call only.
  unsafe rmdir(path) == 0
}

/// The value of an extended attribute (xattr(7)); nil if it is missing or too long.
package func kernelMark(_ name: String, of path: String) -> String? {
  var bytes = [UInt8](repeating: 0, count: 16)
  let count = unsafe bytes.withUnsafeMutableBytes {
    // SAFETY: the kernel writes into these bytes, and reads the names, during the call only.
    unsafe getxattr(path, name, $0.baseAddress, $0.count)
  }
  return count < 0 ? nil : String(decoding: bytes[..<count], as: UTF8.self)
}
