#if Media
  /// The container of segments.
  enum HLSForm: String, CaseIterable {
    /// Fragmented MP4, with initialization sections of their own.
    case fragments = "m4s"
    /// An MPEG transport stream.
    case transportStream = "ts"
  }

  /// The names of a rendition's files. No number is ever used twice in a directory.
  struct HLSFiles: Equatable {
    /// The playlist that players open.
    static let index = "index.m3u8"

    let form: HLSForm
    /// The names of segments begin with it.
    let prefix: String
    /// The media playlist.
    let playlist: String

    /// - Parameter count: of the renditions.
    static func of(_ form: HLSForm, renditions count: Int) -> [HLSFiles] {
      let first = count == 1 ? index : "main.m3u8"
      return [
        HLSFiles(form: form, prefix: "segment", playlist: first),
        HLSFiles(form: form, prefix: "small", playlist: "small.m3u8"),
      ].prefix(count).map(\.self)
    }

    func segment(_ number: UInt64) -> String {
      prefix + Self.digits(number) + "." + form.rawValue
    }
    func map(_ number: UInt64) -> String { prefix + Self.digits(number) + ".init.mp4" }

    /// The number in a segment's name; nil for other names.
    func number(ofSegment name: String) -> UInt64? {
      number(of: name).flatMap { segment($0) == name ? $0 : nil }
    }

    /// The number in the attributes of `EXT-X-MAP`.
    func mapNumber(of attributes: String) -> UInt64? {
      let parts = attributes.split(separator: "\"", omittingEmptySubsequences: false)
      guard parts.count == 3, parts[0] == "URI=" else { return nil }
      let name = String(parts[1])
      return number(of: name).flatMap { map($0) == name ? $0 : nil }
    }

    private func number(of name: String) -> UInt64? {
      guard name.hasPrefix(prefix) else { return nil }
      return Self.number(String(name.dropFirst(prefix.count).prefix { $0 != "." }))
    }

    /// The number in the name of any file that an upload may have made; nil for other names.
    static func number(ofFile name: String) -> UInt64? {
      for form in HLSForm.allCases {
        for files in of(form, renditions: 2) {
          guard let number = files.number(of: name) else { continue }
          if name == files.segment(number) || name == files.map(number) { return number }
        }
      }
      return nil
    }

    /// This program writes no longer numbers.
    private static let mostDigits = 15

    static func number(_ text: String) -> UInt64? {
      guard (1...mostDigits).contains(text.utf8.count),
        text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
      else { return nil }
      return UInt64(text)
    }

    private static func digits(_ number: UInt64) -> String {
      let text = "\(number)"
      return String(repeating: "0", count: max(0, 5 - text.count)) + text
    }
  }
#endif
