import AppGroup

// What a bridge sends to other machines of a group and accepts from them: messages, the rules that
// they must meet, and the state that survives the bridge. BridgeNATS carries the messages.
//
// This module refuses to talk to a network, to carry credentials, semaphores or frames, and to
// believe a message: each is bounded, parsed once, and checked against the manifest of this
// machine. Formats and failures: docs/design/bridge.md.

/// The name of a machine in a group that several machines share.
package struct MachineName: Hashable, Sendable, Comparable, CustomStringConvertible {
  package let text: String

  /// - Returns: nil unless the text has 1…48 bytes of `a–z`, `0–9`, `.`, `-` and `_`, and begins
  ///   with a letter or digit.
  package init?(_ text: String) {
    if NameRule(brokenBy: text) != nil { return nil }
    self.text = text
  }

  /// The nearest name to a host's name.
  package init(host: String) {
    let allowed = host.lowercased().utf8.prefix(NameRule.maximumBytes).map { byte in
      let isLetter = (0x61...0x7a).contains(byte) || (0x30...0x39).contains(byte)
      return isLetter || byte == UInt8(ascii: ".") ? byte : UInt8(ascii: "-")
    }
    text = MachineName(String(decoding: allowed, as: UTF8.self))?.text ?? "machine"
  }

  package var description: String { text }

  package static func < (left: Self, right: Self) -> Bool { left.text < right.text }
}

/// The subjects and streams of one group on a server. A group's ID, a machine's name and the name
/// of a notification are single tokens of a subject, in which only letters, digits and `-` stand
/// for themselves.
package struct BridgeSubjects: Sendable {
  private let group: String
  private let notePrefix: String

  package init(_ group: GroupID) {
    self.group = Self.token(group.description)
    notePrefix = "framebus.\(self.group).note."
  }

  package static func token(_ text: String) -> String {
    var token = ""
    for byte in text.utf8 {
      let written =
        isPlain(byte) ? [byte] : [UInt8(ascii: "_"), digit(byte >> 4), digit(byte & 15)]
      for byte in written { token.unicodeScalars.append(Unicode.Scalar(byte)) }
    }
    return token
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
      true
    default: false
    }
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }

  package var notesStream: String { "FRAMEBUS-\(group)-notes" }
  package var allNotes: String { "framebus.\(group).note.*.*" }
  package func notes(of machine: MachineName) -> String {
    notePrefix + Self.token(machine.text) + "."
  }

  /// Whether a note belongs under a subject. Allocates nothing, because each delivery asks.
  package func isSubject(_ subject: Span<UInt8>, of note: Note) -> Bool {
    var position = 0
    return Self.skip(notePrefix, in: subject, &position)
      && Self.skip(tokenOf: note.machine.text, in: subject, &position)
      && Self.skip(".", in: subject, &position)
      && Self.skip(tokenOf: note.name, in: subject, &position) && position == subject.count
  }

  private static func skip(
    _ text: String, in subject: Span<UInt8>, _ position: inout Int
  ) -> Bool {
    for byte in text.utf8 where !skip(byte, in: subject, &position) { return false }
    return true
  }

  private static func skip(
    tokenOf text: String, in subject: Span<UInt8>, _ position: inout Int
  ) -> Bool {
    for byte in text.utf8 {
      let isNext =
        isPlain(byte)
        ? skip(byte, in: subject, &position)
        : skip(UInt8(ascii: "_"), in: subject, &position)
          && skip(digit(byte >> 4), in: subject, &position)
          && skip(digit(byte & 15), in: subject, &position)
      if !isNext { return false }
    }
    return true
  }

  private static func skip(
    _ byte: UInt8, in subject: Span<UInt8>, _ position: inout Int
  ) -> Bool {
    guard position < subject.count, subject[position] == byte else { return false }
    position += 1
    return true
  }

  package var logStream: String { "FRAMEBUS-\(group)-log" }
  package var allLogs: String { "framebus.\(group).log.*" }
  package func log(of machine: MachineName) -> String {
    "framebus.\(group).log.\(Self.token(machine.text))"
  }

  package var suiteBucket: String { "FRAMEBUS-\(group)-suites" }
  package var machineBucket: String { "FRAMEBUS-\(group)-machines" }
  package func report(of machine: MachineName) -> String {
    "$KV.\(machineBucket).\(Self.token(machine.text))"
  }
  /// The subject under which the server stores a key of a bucket.
  package static func allKeys(of bucket: String) -> String { "$KV.\(bucket).*" }
}
