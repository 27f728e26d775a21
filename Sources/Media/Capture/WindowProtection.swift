import AppGroup
import Platform
import SharedDefaults

/// The windows of a screen that no frame shows.
public enum WindowProtection: Hashable, Sendable {
  /// Every window may be seen, even one that asks not to be.
  case off
  /// Windows with the X property `_FRAMEBUS_PROTECTED` are black, and those that a rule names.
  case on([WindowRule])

  var arguments: [String] {
    switch self {
    case .off: ["--no-protect"]
    // The rule that names no other window says that marked ones are black.
    case .on(let rules): (rules.isEmpty ? [.marked] : rules).map { "--protect=\($0)" }
    }
  }
}

extension WindowProtection? {
  /// Adds rules. Protection that was turned off on purpose stays off.
  public mutating func add(_ rules: [WindowRule]) {
    switch self {
    case .off?: break
    case .on(let own)?: self = .on(own + rules.filter { !own.contains($0) })
    case nil: self = .on(rules)
    }
  }
}

/// Names the windows of a program, one window, or no more than those that are marked.
public struct WindowRule: Hashable, Sendable, CustomStringConvertible {
  /// Either name that `xprop WM_CLASS` shows, a window's ID such as `0x2a00007` or `44040199`, or
  /// `marked`.
  public let text: String

  public static let maximumBytes = 255
  /// The most rules of one capture.
  public static let maximumCount = 64

  public init(_ text: String) throws(CaptureOptionError) {
    let isName = (1...Self.maximumBytes).contains(text.utf8.count)
    guard isName, text.plain == text, !text.contains(where: \.isWhitespace) else {
      throw .badWindow(text)
    }
    // A mistyped ID must not become the name of a program that nobody has.
    if WindowID(text) == .malformed { throw .badWindow(text) }
    self.text = text
  }

  private init(known text: String) { self.text = text }
  public static let marked = WindowRule(known: "marked")

  public var description: String { text }

  /// The rules of a list of texts.
  public static func list(_ texts: [String]) throws(CaptureOptionError) -> [WindowRule] {
    guard texts.count <= maximumCount else { throw .tooManyWindows(texts.count) }
    var rules: [WindowRule] = []
    for text in texts { rules.append(try WindowRule(text)) }
    return rules
  }
}

extension WindowRule {
  /// The setting of a group's suite that names windows for every capture of the group: a list of
  /// texts.
  public static let settingKey = "protectedWindows"

  /// The rules that the group's setting names; none if it is not set.
  /// - Throws: also if the setting is malformed: nobody can tell then what must not be seen.
  public static func setting(
    of group: AppGroup
  ) throws(ProtectionSettingError) -> [WindowRule] {
    let suite: SharedDefaults
    do throws(DefaultsError) {
      suite = try SharedDefaults(in: group)
      try suite.refresh()
    } catch { throw .settings(error) }
    if suite.value(forKey: settingKey) == nil { return [] }
    guard let texts = suite.stringArray(forKey: settingKey) else {
      throw .malformed("it is not a list of texts", suite.name)
    }
    do throws(CaptureOptionError) { return try list(texts) } catch {
      throw .malformed("\(error)", suite.name)
    }
  }
}

/// Why the protected windows of a group are unknown.
public enum ProtectionSettingError: Error, Hashable, Sendable, CustomStringConvertible {
  case settings(DefaultsError)
  case malformed(String, SuiteName)

  public var description: String {
    switch self {
    case .settings(let error):
      "the group's setting \(WindowRule.settingKey) cannot be read, so windows could be shown that"
        + " must not be: \(error)"
    case .malformed(let why, let suite):
      "the group's setting \(WindowRule.settingKey) is malformed: \(why); correct it with"
        + " `framebus defaults write \(suite) \(WindowRule.settingKey) --type json '[\"NAME\"]'`,"
        + " or remove it"
    }
  }
}
