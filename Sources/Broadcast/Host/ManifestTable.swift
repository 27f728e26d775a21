import AppGroup
import Platform

/// A table of a manifest. Each read of a key checks its type; an error names the line.
struct ManifestTable {
  private let values: [String: TOMLValue]
  private let name: String

  init(_ values: [String: TOMLValue], name: String) {
    self.values = values
    self.name = name
  }

  func error(_ key: String, _ reason: String) -> ExtensionManifestError {
    ExtensionManifestError(line: values[key]?.line ?? 1, reason: reason)
  }

  func refuseUnknown(_ known: [String]) throws(ExtensionManifestError) {
    let unknown = values.filter { !known.contains($0.key) }
      .min { $0.value.line < $1.value.line }
    guard let unknown else { return }
    throw error(
      unknown.key,
      "unknown key \(unknown.key.plain) in \(name); use one of \(known.joined(separator: ", "))")
  }

  func string(_ key: String) throws(ExtensionManifestError) -> String? {
    guard let value = values[key] else { return nil }
    guard let text = value.string else { throw error(key, "\(key) is not a string") }
    return text
  }

  func strings(_ key: String) throws(ExtensionManifestError) -> [String]? {
    guard let value = values[key] else { return nil }
    guard let texts = value.array.map({ $0.compactMap(\.string) }),
      texts.count == value.array?.count
    else { throw error(key, "\(key) is not a list of strings") }
    return texts
  }

  func integer(
    _ key: String, in range: ClosedRange<Int>
  ) throws(ExtensionManifestError) -> Int? {
    guard let value = values[key] else { return nil }
    guard let number = value.integer, range.contains(number) else {
      throw error(
        key,
        "\(key) is not a whole number from \(range.lowerBound)"
          + (range.upperBound == .max ? "" : " to \(range.upperBound)"))
    }
    return number
  }

  func boolean(_ key: String) throws(ExtensionManifestError) -> Bool? {
    guard let value = values[key] else { return nil }
    guard let boolean = value.boolean else { throw error(key, "\(key) is not true or false") }
    return boolean
  }

  func table(_ key: String) throws(ExtensionManifestError) -> ManifestTable? {
    guard let value = values[key] else { return nil }
    guard let inner = value.table else { throw error(key, "\(key) is not a table") }
    return ManifestTable(inner, name: "[\(key)]")
  }
}
