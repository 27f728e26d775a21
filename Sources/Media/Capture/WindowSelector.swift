/// A window as users name it: `0x2a00007`, `Firefox`, `Budget 2027`, `pick`.
public enum WindowSelector: Hashable, Sendable, CustomStringConvertible {
  /// Its X ID.
  case id(UInt32)
  /// Its title, or a name of its program.
  case named(String)
  /// The window that the user clicks on.
  case pick

  /// Parses `0x2a00007`, as `framebus windows` shows it, or the same number in decimal digits;
  /// `pick`; else a title or a program.
  public init(_ text: String) throws(SourceSpecificationError) {
    if text.allSatisfy(\.isWhitespace) {
      throw .missingArgument("window", "an ID, a title or a program, as `framebus windows` lists")
    }
    switch WindowID(text) {
    case .id(let id): self = .id(id)
    case .malformed: throw .badWindow(text)
    case nil: self = text == "pick" ? .pick : .named(text)
    }
  }

  public var description: String {
    switch self {
    case .id(let id): "0x\(String(id, radix: 16))"
    case .named(let text): text
    case .pick: "pick"
    }
  }
}
