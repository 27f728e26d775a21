import Broadcast
import CommandLineSupport
import Platform

/// A choice among a group's extensions on a terminal: arrow keys, Enter, Escape, and `m` for the
/// microphone.
struct ExtensionPicker {
  /// What the user chose.
  struct Choice: Hashable {
    let id: String
    let hasMicrophone: Bool
  }

  private let entries: [ExtensionRegistry.Entry]
  private var selected: Int
  private var hasMicrophone: Bool
  private var isDrawn = false

  /// - Parameter preferred: the ID that is selected at first; nil for the first in the list.
  init(_ entries: [ExtensionRegistry.Entry], preferred: String?, hasMicrophone: Bool) {
    self.entries = entries
    selected = entries.firstIndex { $0.id == preferred } ?? 0
    self.hasMicrophone = hasMicrophone
  }

  /// Whether standard input and standard error are a terminal that can be redrawn.
  static var isPossible: Bool {
    isTerminal(0) && isTerminal(2) && environmentValue("TERM") != "dumb"
  }

  /// - Returns: nil if the user cancels, or `stop` is raised.
  /// - Throws: ``Interrupted`` after Ctrl-C, which is recorded as a cancelled pick.
  mutating func pick(
    for controller: BroadcastController, stop: StopSignal
  ) throws -> Choice? {
    guard let silent = SilentTerminal(0) else { return nil }
    let result = Result { try choose(stop) }
    // The terminal is as it was before anything else is written.
    _ = consume silent
    do { return try result.get() } catch let error as Interrupted {
      try controller.cancelPick()
      throw error
    }
  }

  private mutating func choose(_ stop: StopSignal) throws -> Choice? {
    while true {
      try draw()
      switch try Self.key(stop: stop) {
      case .up: selected = max(selected - 1, 0)
      case .down: selected = min(selected + 1, entries.count - 1)
      case .number(let number): if entries.indices.contains(number - 1) { selected = number - 1 }
      case .microphone: hasMicrophone.toggle()
      case .choose: return Choice(id: entries[selected].id, hasMicrophone: hasMicrophone)
      case .cancel: return nil
      case .interrupt: throw Interrupted()
      case .other: break
      }
    }
  }

  /// Draws the list over the former one.
  private mutating func draw() throws(SystemError) {
    let size = TerminalSize(of: 2)
    let columns = size?.columns ?? 80
    // As many as fit, so that the terminal does not scroll.
    let shown = min(entries.count, max(1, (size?.rows ?? 24) - 3))
    let first = max(0, selected - shown + 1)
    var lines = ["Which extension? Arrows and Enter pick, m: microphone, Esc cancels"]
    for index in first..<first + shown {
      lines.append("\(index == selected ? ">" : " ") \(index + 1)  \(entries[index].title.plain)")
    }
    lines.append("  microphone: \(SwitchPosition(hasMicrophone).rawValue)")
    let up = isDrawn ? "\u{1b}[\(lines.count)A" : ""
    isDrawn = true
    let text = up + lines.map { "\r\u{1b}[K" + $0.prefix(columns - 1) + "\n" }.joined()
    try writeFully(Array(text.utf8), to: 2)
  }

  enum Key: Hashable {
    case up, down, number(Int), microphone, choose, cancel, interrupt, other

    /// - Parameter bytes: what one key sends.
    init(_ bytes: [UInt8]) {
      self =
        switch String(decoding: bytes, as: UTF8.self) {
        case "\u{1b}[A", "\u{1b}OA", "k": .up
        case "\u{1b}[B", "\u{1b}OB", "j": .down
        case "\r", "\n": .choose
        case "\u{1b}", "q", "\u{4}", "": .cancel
        case "\u{3}": .interrupt
        case "m": .microphone
        // An Escape, and the next key at once.
        case let text
        where text.hasPrefix("\u{1b}") && !text.hasPrefix("\u{1b}[")
          && !text.hasPrefix("\u{1b}O"):
          .cancel
        case let text: Int(text).map(Key.number) ?? .other
        }
    }
  }

  /// How long the rest of a key's bytes may take: an Escape alone is a key too.
  private static let keyLimit = Duration.milliseconds(100)

  private static func key(stop: StopSignal) throws -> Key {
    if try waitUntilReadable([stop.descriptorNumber, 0], until: .never)[0] { return .cancel }
    var bytes = try readSome(0, limit: 1)
    while bytes == [0x1b] || bytes == [0x1b, 0x5b] || bytes == [0x1b, 0x4f],
      try waitUntilReadable([0], until: .after(keyLimit))[0]
    {
      let more = try readSome(0, limit: 1)
      if more.isEmpty { break }
      bytes += more
    }
    return Key(bytes)
  }
}

extension ExtensionRegistry.Entry {
  /// Its name for people, and its ID; or only that.
  var title: String {
    guard case .success(let manifest) = manifest else { return "\(id), unusable" }
    return manifest.displayName.map { "\($0) (\(id))" } ?? id
  }
}
