import Foundation

/// Tests/Tools/copy_counter.c, compiled and preloaded.
package struct CopyCounter {
  private let root = Result { try TemporaryRoot() }
  private let library: String
  private let record: String

  package struct Counts {
    package let large: UInt64
    package let outOfPool: UInt64
    package let largestBytes: UInt64
  }

  package init() throws {
    let root = try root.get()
    library = root.file("copy_counter.so")
    record = root.file("counts")
    try output(
      of: "cc",
      ["-shared", "-fPIC", "-O1", "-fno-builtin", "-o", library, tool("copy_counter.c"), "-ldl"])
  }

  package var environment: [String: String?] { ["LD_PRELOAD": library, "COPY_COUNTER": record] }

  package func counts(of processID: Int32) throws -> Counts {
    let data = try Data(contentsOf: URL(fileURLWithPath: "\(record).\(processID)"))
    // SAFETY: the file is one page, as the library created it.
    let words = unsafe data.prefix(24).withUnsafeBytes { bytes in
      (0..<3).map { unsafe bytes.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self) }
    }
    return Counts(large: words[0], outOfPool: words[1], largestBytes: words[2])
  }
}
