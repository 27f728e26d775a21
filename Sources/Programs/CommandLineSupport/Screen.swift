import Platform

/// Standard output as a screen: redrawn in place on a terminal, written as successive blocks of
/// lines elsewhere.
package struct Screen: Sendable {
  private let isTerminal: Bool
  private let hasColour: Bool

  package init() {
    isTerminal = Platform.isTerminal(1) && environmentValue("TERM") != "dumb"
    hasColour = isTerminal && environmentValue("NO_COLOR") == nil
  }

  /// A line without control characters, and its emphasis.
  package struct Line: Hashable, Sendable {
    package enum Style: Sendable { case plain, heading, alarm }
    package let text: String
    package let style: Style

    package init(_ text: String, _ style: Style = .plain) {
      self.text = text.plain
      self.style = style
    }
  }

  /// Replaces the shown lines. A terminal shows only as many as fit.
  package func show(_ lines: [Line]) throws(SystemError) {
    let text =
      isTerminal
      ? drawing(lines, TerminalSize(of: 1)) : lines.map { $0.text + "\n" }.joined() + "\n"
    try writeFully(Array(text.utf8), to: 1)
  }

  private func drawing(_ lines: [Line], _ size: TerminalSize?) -> String {
    let columns = size?.columns ?? 80
    // The last row stays empty, so that the terminal does not scroll.
    let rows = max(1, (size?.rows ?? 24) - 1)
    let shown = lines.prefix(rows).map { coloured($0, columns: columns) + "\u{1b}[K\n" }
    return "\u{1b}[H" + shown.joined() + "\u{1b}[J"
  }

  private func coloured(_ line: Line, columns: Int) -> String {
    let text = String(line.text.prefix(columns))
    guard hasColour else { return text }
    return switch line.style {
    case .plain: text
    case .heading: "\u{1b}[1m\(text)\u{1b}[0m"
    case .alarm: "\u{1b}[1;31m\(text)\u{1b}[0m"
    }
  }
}
