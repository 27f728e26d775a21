import Platform
import Synchronization

/// Writes a program's output: data to standard output, errors and progress to standard error. Uses
/// colour only on a terminal, and never with `NO_COLOR`.
///
/// Any text may contain untrusted input, so control characters are escaped here: in every
/// human-readable line, wherever it goes, and in data on a terminal. Data to a file or program is
/// unchanged, byte for byte.
public struct Terminal: Sendable {
  /// Whether only data and errors are printed.
  public let isQuiet: Bool
  public let isVerbose: Bool
  /// Whether standard error is a terminal, so that a progress line can be redrawn.
  public let isInteractive: Bool
  private let hasColour: Bool
  /// Whether the cursor of standard error is at the end of a redrawn line.
  private static let isMidLine = Mutex(false)

  public init(isQuiet: Bool = false, isVerbose: Bool = false) {
    self.isQuiet = isQuiet
    self.isVerbose = isVerbose
    isInteractive = isTerminal(2) && environmentValue("TERM") != "dumb"
    hasColour = isInteractive && environmentValue("NO_COLOR") == nil
  }

  /// Writes a human-readable line to standard output.
  /// - Throws: if the line cannot be written, as to a full disk.
  public func print(_ line: String) throws(SystemError) {
    try writeFully(Array((line.plain + "\n").utf8), to: 1)
  }

  /// Writes data to standard output.
  public func write(_ bytes: [UInt8]) throws(SystemError) {
    // SAFETY: bytes have no padding.
    try writeData(unsafe bytes.span.bytes, to: 1)
  }

  /// Writes a line about progress to standard error, unless quiet.
  public func report(_ line: String) {
    if !isQuiet { writeError(SuggestedCommand.located(in: line).plain + "\n") }
  }

  /// Writes a detail to standard error, with `--verbose` only.
  public func detail(_ line: String) {
    if isVerbose { writeError(line.plain + "\n") }
  }

  /// Draws lines on standard error: black on white on a terminal, whatever its colours.
  public func draw(_ lines: [String]) {
    let (before, after) = isInteractive ? ("\u{1b}[30;47m", "\u{1b}[0m") : ("", "")
    writeError(lines.map { before + $0.plain + after + "\n" }.joined())
  }

  /// Writes a warning to standard error and the log.
  public func warn(_ line: String) {
    writeError(coloured("warning: ", 33) + SuggestedCommand.located(in: line).plain + "\n")
    ProductLog.append(.warning, line)
  }

  /// Writes an error to standard error and the log.
  public func error(_ line: String) {
    writeError(coloured("error: ", 31) + SuggestedCommand.located(in: line).plain + "\n")
    ProductLog.append(.error, line)
  }

  /// Writes an error of the command line and its lines of help to standard error and the log.
  func usageError(_ lines: String) {
    writeError(coloured("error: ", 31) + lines.plainLines + "\n")
    ProductLog.append(.error, lines)
  }

  /// Shows progress: redrawn in place on a terminal, else one line per call. Other lines on
  /// standard error begin below it.
  public func progress(_ line: String) {
    if isQuiet { return }
    guard isInteractive else { return writeError(line.plain + "\n") }
    Self.isMidLine.withLock { isMidLine in
      isMidLine = true
      write("\r\u{1b}[K" + line.plain)
    }
  }

  /// Ends a redrawn progress line before output elsewhere.
  public func endProgress() { writeError("") }

  private func coloured(_ text: String, _ colour: Int) -> String {
    hasColour ? "\u{1b}[1;\(colour)m\(text)\u{1b}[0m" : text
  }

  private func writeError(_ text: String) {
    Self.isMidLine.withLock { isMidLine in
      let text = isMidLine ? "\n" + text : text
      isMidLine = false
      if !text.isEmpty { write(text) }
    }
  }

  private func write(_ text: String) {
    // A closed standard error is ignored.
    try? writeFully(Array(text.utf8), to: 2)
  }
}
