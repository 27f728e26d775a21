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

  /// The most bytes of a rule.
  public static let maximumBytes = 255
  /// The most rules of one capture.
  public static let maximumCount = 64

  /// A rule as `--protect` takes it.
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
  /// The windows that have the X property `_FRAMEBUS_PROTECTED`.
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
    var setting = try ProtectionSetting(of: group)
    return try setting.rules()
  }
}

/// The setting `protectedWindows` of a group's suite, as it is at each moment.
package struct ProtectionSetting: Sendable {
  private let suite: SharedDefaults
  private var read: (value: DefaultsValue, rules: [WindowRule])?

  package init(of group: AppGroup) throws(ProtectionSettingError) {
    do { suite = try SharedDefaults(in: group) } catch { throw .settings(error) }
  }

  /// The present rules, with one system call while nothing changes.
  /// - Throws: if the setting cannot be read, or is malformed.
  package mutating func rules() throws(ProtectionSettingError) -> [WindowRule] {
    do { try suite.refresh() } catch { throw .settings(error) }
    guard let value = suite.value(forKey: WindowRule.settingKey) else { return [] }
    if let read, read.value == value { return read.rules }
    guard case .array(let items) = value else {
      throw .malformed("it is not a list of texts", suite.name)
    }
    let texts = items.compactMap { if case .string(let text) = $0 { text } else { nil } }
    guard texts.count == items.count else {
      throw .malformed("it is not a list of texts", suite.name)
    }
    do throws(CaptureOptionError) {
      let rules = try WindowRule.list(texts)
      read = (value, rules)
      return rules
    } catch { throw .malformed("\(error)", suite.name) }
  }
}

/// Why the protected windows of a group are unknown.
public enum ProtectionSettingError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The settings cannot be read.
  case settings(DefaultsError)
  /// The setting is malformed.
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
