import Platform
import SharedLog
import Synchronization

/// Appends lines to a file as JSON, one object a line, with the keys of `framebus log --json`.
/// Several processes may append to one file. A file that would exceed its limit is first renamed to
/// `NAME.old`, replacing the previous one.
public final class JSONLinesSink: LogSink {
  private struct State {
    var droppedCount: UInt64 = 0
    /// Whether the file may end within a line, as when a full disk took only a part of one.
    var isTorn = false
    var time = TimeText()
  }

  private let directory: Directory
  private let name: String
  private let limit: Int
  private let state = Mutex(State())

  /// - Parameters:
  ///   - path: a file of this user, created if it is missing; its directory must exist.
  ///   - limit: maximum size of the file in bytes.
  /// - Throws: if the directory does not exist.
  public init(path: String, limit: Int = 16 << 20) throws(SystemError) {
    let slash = path.lastIndex(of: "/")
    name = slash.map { String(path[path.index(after: $0)...]) } ?? path
    let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    directory = try Directory(path: folder)
    self.limit = limit
  }

  /// Lines that could not be written, as on a full disk.
  public var droppedCount: UInt64 { state.withLock { $0.droppedCount } }

  /// Appends a line to the file.
  public func append(_ line: LogLine) {
    state.withLock { state in
      var object = JSONObject()
      object.add("time", state.time.text(wallNowNs()))
      object.add("monotonicNs", number: monotonicNowNs())
      object.add("pid", number: UInt64(currentProcessID()))
      object.add("level", line.level.description)
      object.add("label", line.label)
      object.add("message", line.message)
      var metadata = JSONObject()
      let fields = line.metadata.map { ($0.key, $0.sharedValue) }
      for (key, value) in Dictionary(fields, uniquingKeysWith: { $1 }).sorted(by: { $0 < $1 }) {
        metadata.add(key, value)
      }
      object.add("metadata", object: metadata)
      object.add("source", line.source.isEmpty ? "" : "\(line.source):\(line.sourceLine)")
      let newline = UInt8(ascii: "\n")
      let bytes = (state.isTorn ? [newline] : []) + object.closed + [newline]
      do {
        try directory.append(bytes, toLog: name, limit: limit)
        state.isTorn = false
      } catch {
        state.isTorn = true
        state.droppedCount += 1
      }
    }
  }
}

/// A JSON object under construction, without Foundation.
private struct JSONObject {
  private var bytes: [UInt8] = [UInt8(ascii: "{")]

  var closed: [UInt8] { bytes + [UInt8(ascii: "}")] }

  mutating func add(_ key: String, _ value: String) {
    begin(key)
    bytes += Self.quoted(value)
  }

  mutating func add(_ key: String, number: UInt64) {
    begin(key)
    bytes += "\(number)".utf8
  }

  mutating func add(_ key: String, object: JSONObject) {
    begin(key)
    bytes += object.closed
  }

  private mutating func begin(_ key: String) {
    if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
    bytes += Self.quoted(key)
    bytes.append(UInt8(ascii: ":"))
  }

  /// A string, quoted according to RFC 8259.
  private static func quoted(_ text: String) -> [UInt8] {
    var bytes: [UInt8] = [UInt8(ascii: "\"")]
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
      case 0..<0x20:
        let digits = String(byte, radix: 16)
        bytes += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8
      default: bytes.append(byte)
      }
    }
    return plainJSON(bytes) + [UInt8(ascii: "\"")]
  }
}
