import Platform
import SharedDefaults

/// A whole suite of settings as one machine stored it on the server, with the machine that set each
/// key last. One message holds all keys, so that a change of several stays atomic.
package struct SuiteVersion: Sendable, Equatable {
  package var values: [String: DefaultsValue]
  /// The machine of each key.
  package var writers: [String: String]
  /// The machine that stored this version.
  package var writer: MachineName

  package static let maximumBytes = 900_000
  private static let magic: UInt32 = 0x3153_4246  // “FBS1”

  package init(
    values: [String: DefaultsValue], writers: [String: String], writer: MachineName
  ) {
    self.values = values
    self.writers = writers
    self.writer = writer
  }

  /// - Returns: nil if the suite is too large to cross.
  package var bytes: [UInt8]? {
    let names = writers.mapValues { DefaultsValue.string($0) }
    guard let values = try? SuiteImage(values: values).fileBytes(),
      let names = try? SuiteImage(values: names).fileBytes()
    else { return nil }
    var writer = ByteWriter()
    writer.integer(Self.magic)
    writer.integer(UInt8(self.writer.text.utf8.count))
    writer.raw(self.writer.text.utf8)
    for part in [values, names] {
      writer.integer(UInt32(part.count))
      writer.raw(part)
    }
    return writer.bytes.count <= Self.maximumBytes ? writer.bytes : nil
  }

  /// - Returns: nil unless the bytes are exactly one version.
  package init?(parsing bytes: [UInt8]) {
    guard bytes.count <= Self.maximumBytes else { return nil }
    var parser = ByteParser(bytes)
    do throws(FormatError) {
      guard try parser.integer(UInt32.self) == Self.magic,
        let writer = MachineName(try parser.text(byteCount: Int(parser.integer(UInt8.self))))
      else { return nil }
      self.writer = writer
      values = try Self.image(&parser)
      writers = [:]
      for (key, value) in try Self.image(&parser) {
        guard case .string(let text) = value, MachineName(text) != nil else { return nil }
        writers[key] = text
      }
    } catch {
      return nil
    }
    guard parser.isAtEnd else { return nil }
  }

  private static func image(
    _ parser: inout ByteParser
  ) throws(FormatError) -> [String: DefaultsValue] {
    let bytes = try parser.raw(Int(parser.integer(UInt32.self)))
    guard let (image, end) = try? SuiteImage.parse(bytes), end == bytes.count else {
      throw .wrong
    }
    return image.values
  }
}

/// What a suite was when this machine and the server last agreed.
package struct AgreedSuite: Sendable, Equatable {
  package var values: [String: DefaultsValue] = [:]
  package var writers: [String: String] = [:]
  /// The server's revision of the suite; 0 for none.
  package var revision: UInt64 = 0
  /// Identifies the server's store: when it was made. Another one counts revisions anew.
  package var store: UInt64 = 0

  package init() {}
}

/// A key that two machines changed without knowing of each other's change.
package struct SuiteConflict: Sendable, Equatable {
  package let key: String
  /// The machine whose value this machine's replaces.
  package let loser: String
}

extension [String: DefaultsValue] {
  /// The keys whose values differ, with this dictionary's; nil for keys that it lacks.
  func changes(since old: [String: DefaultsValue]) -> [String: DefaultsValue?] {
    var changes: [String: DefaultsValue?] = [:]
    for key in Set(keys).union(old.keys) where self[key]?.encoding != old[key]?.encoding {
      changes.updateValue(self[key], forKey: key)
    }
    return changes
  }
}
