/// A recursive descent parser over the Unicode scalars of a text.
struct TOMLParser {
  private static let deepestArray = 8
  private let scalars: [Unicode.Scalar]
  private var position = 0
  private var line = 1
  /// The paths of the table headers read so far. A second header for a path is an error.
  private var seenHeaders: Set<[String]> = []

  init(_ text: String) { scalars = Array(text.unicodeScalars) }

  mutating func document() throws(TOMLError) -> [String: TOMLValue] {
    var root = TOMLValue(content: .table([:]), line: 1)
    var path: [String] = []
    while true {
      skipSpace()
      guard let next = peek else { break }
      if next == "#" || next == "\n" || next == "\r" {
        try endLine()
      } else if next == "[" {
        path = try header()
        try Self.insert(nil, at: path, in: &root, line)
        try endLine()
      } else {
        let keys = try keyPath()
        try expect("=", after: "the key \(keys.joined(separator: "."))")
        skipSpace()
        let value = try value(depth: 0)
        try Self.insert(value, at: path + keys, in: &root, line)
        try endLine()
      }
    }
    return root.table ?? [:]
  }

  private var peek: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

  private func error(_ reason: String) -> TOMLError { TOMLError(line: line, reason: reason) }

  private mutating func skipSpace() {
    while let next = peek, next == " " || next == "\t" { position += 1 }
  }

  private mutating func expect(
    _ scalar: Unicode.Scalar, after what: String
  ) throws(TOMLError) {
    skipSpace()
    guard peek == scalar else { throw error("there is no \(scalar) after \(what)") }
    position += 1
  }

  /// Reads the rest of a line after a value: an optional comment and the line end.
  private mutating func endLine() throws(TOMLError) {
    skipSpace()
    if peek == "#" {
      while let next = peek, next != "\n" {
        if isControl(next), next != "\r" { throw error("the comment has a control character") }
        position += 1
      }
    }
    if peek == "\r" { position += 1 }
    guard let next = peek else { return }
    guard next == "\n" else { throw error("there is unexpected text at the end of the line") }
    position += 1
    line += 1
  }

  private mutating func header() throws(TOMLError) -> [String] {
    position += 1
    if peek == "[" { throw error("arrays of tables are not supported") }
    skipSpace()
    let path = try keyPath()
    try expect("]", after: "[\(path.joined(separator: "."))")
    guard seenHeaders.insert(path).inserted else {
      throw error("the table [\(path.joined(separator: "."))] occurs twice")
    }
    return path
  }

  private mutating func keyPath() throws(TOMLError) -> [String] {
    var path = [try key()]
    skipSpace()
    while peek == "." {
      position += 1
      skipSpace()
      path.append(try key())
      skipSpace()
      if path.count > 8 { throw error("the key has more than 8 parts") }
    }
    return path
  }

  private mutating func key() throws(TOMLError) -> String {
    if peek == "\"" || peek == "'" { return try string() }
    var key = ""
    while let next = peek, isBare(next) {
      key.unicodeScalars.append(next)
      position += 1
    }
    if key.isEmpty { throw error("a key is missing") }
    return key
  }

  private mutating func value(depth: Int) throws(TOMLError) -> TOMLValue {
    let start = line
    switch peek {
    case "\"", "'": return TOMLValue(content: .string(try string()), line: start)
    case "[": return TOMLValue(content: .array(try array(depth: depth + 1)), line: start)
    case "{": throw error("inline tables are not supported: use a [table]")
    case nil, "\n", "\r", "#": throw error("there is no value after the =")
    default: return TOMLValue(content: try word(), line: start)
    }
  }

  private mutating func word() throws(TOMLError) -> TOMLValue.Content {
    var word = ""
    while let next = peek, isBare(next) || next == "+" || next == "." || next == ":" {
      word.unicodeScalars.append(next)
      position += 1
    }
    if word == "true" || word == "false" { return .boolean(word == "true") }
    let digits = word.filter { $0 != "_" }
    let unsigned = digits.drop { $0 == "-" || $0 == "+" }
    let isPlain =
      !unsigned.isEmpty && unsigned.allSatisfy { "0123456789".contains($0) }
      && (unsigned.count == 1 || unsigned.first != "0")
      && !word.hasPrefix("_") && !word.hasSuffix("_") && !word.contains("__")
    guard isPlain, let number = Int(digits) else {
      throw error("\(printable(word)) is not a whole number, string, list, true or false")
    }
    return .integer(number)
  }

  private mutating func array(depth: Int) throws(TOMLError) -> [TOMLValue] {
    if depth > Self.deepestArray {
      throw error("lists are nested more than \(Self.deepestArray) deep")
    }
    position += 1
    var values: [TOMLValue] = []
    while true {
      try skipLines()
      if peek == "]" { break }
      values.append(try value(depth: depth))
      try skipLines()
      if peek == "," {
        position += 1
      } else if peek != "]" {
        throw error("there is no , or ] in the list")
      }
    }
    position += 1
    return values
  }

  /// Skips space, comments and line ends, which are allowed anywhere in a list.
  private mutating func skipLines() throws(TOMLError) {
    skipSpace()
    while let next = peek, next == "\n" || next == "\r" || next == "#" {
      try endLine()
      skipSpace()
    }
  }

  private mutating func string() throws(TOMLError) -> String {
    let quote = peek
    position += 1
    var text = ""
    while let next = peek, next != quote {
      if isControl(next) { throw error("a string does not end on its line") }
      position += 1
      text.unicodeScalars.append(quote == "\"" && next == "\\" ? try escape() : next)
    }
    if peek == nil { throw error("a string does not end on its line") }
    position += 1
    if text.isEmpty, peek == quote { throw error("multi-line strings are not supported") }
    return text
  }

  private mutating func escape() throws(TOMLError) -> Unicode.Scalar {
    let plain: [Unicode.Scalar: Unicode.Scalar] = [
      "\"": "\"", "\\": "\\", "n": "\n", "t": "\t", "r": "\r", "b": "\u{8}", "f": "\u{c}",
    ]
    guard let next = peek else { throw error("a string does not end on its line") }
    position += 1
    if let scalar = plain[next] { return scalar }
    let count = next == "u" ? 4 : next == "U" ? 8 : 0
    let end = min(position + count, scalars.count)
    let digits = String(String.UnicodeScalarView(scalars[position..<end]))
    guard count > 0, digits.allSatisfy(\.isHexDigit), let number = UInt32(digits, radix: 16),
      end - position == count, let scalar = Unicode.Scalar(number)
    else { throw error("a string has an unknown escape") }
    position = end
    return scalar
  }

  private func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x20 && scalar != "\t" || scalar.value == 0x7f
  }

  private func isBare(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", "_", "-": true
    default: false
    }
  }

  /// Inserts a value at a path, or a table if the value is nil. A value that exists is an error.
  private static func insert(
    _ value: TOMLValue?, at path: [String], in table: inout TOMLValue, _ line: Int
  ) throws(TOMLError) {
    guard case .table(var entries) = table.content, let key = path.first else {
      if value == nil && path.isEmpty && table.table != nil { return }
      throw TOMLError(line: line, reason: "a key names both a value and a table")
    }
    if path.count == 1, let value {
      if entries[key] != nil {
        throw TOMLError(line: line, reason: "the key \(printable(key)) occurs twice")
      }
      entries[key] = value
    } else {
      var inner = entries[key] ?? TOMLValue(content: .table([:]), line: line)
      try insert(value, at: Array(path.dropFirst()), in: &inner, line)
      entries[key] = inner
    }
    table.content = .table(entries)
  }
}
