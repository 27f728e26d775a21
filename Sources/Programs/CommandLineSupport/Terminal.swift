import Platform

/// Where a program's output goes: data to standard output, errors and progress to standard error.
/// Colour appears only on a terminal, and never with `NO_COLOR`.
///
/// Any text may hold what others wrote, so all of it is made plain here, once: each line that is
/// made for people, wherever it goes, and data on a terminal. Data that goes to a file or a program
/// stays as it is, byte for byte.
public struct Terminal: Sendable {
  /// Nothing but data and errors.
  public let isQuiet: Bool
  public let isVerbose: Bool
  /// Whether standard error is a terminal, so that a progress line can be redrawn.
  public let isInteractive: Bool
  private let hasColour: Bool

  public init(isQuiet: Bool = false, isVerbose: Bool = false) {
    self.isQuiet = isQuiet
    self.isVerbose = isVerbose
    isInteractive = isTerminal(2) && environmentValue("TERM") != "dumb"
    hasColour = isInteractive && environmentValue("NO_COLOR") == nil
  }

  /// Writes one line for people to standard output.
  /// - Throws: why the line is lost, such as a full disk.
  public func print(_ line: String) throws(SystemError) {
    try writeFully(Array((line.plain + "\n").utf8), to: 1)
  }

  /// Writes data to standard output.
  public func write(_ bytes: [UInt8]) throws(SystemError) {
    // SAFETY: bytes have no padding.
    try writeData(unsafe bytes.span.bytes, to: 1)
  }

  /// Says what is being done, on standard error, unless quiet.
  public func say(_ line: String) {
    if !isQuiet { tell(line.plain + "\n") }
  }

  /// Says a detail, with `--verbose` only.
  public func detail(_ line: String) {
    if isVerbose { tell(line.plain + "\n") }
  }

  /// Tells the user, and the log.
  public func warn(_ line: String) {
    tell(coloured("warning: ", 33) + line.plain + "\n")
    ProductLog.append(.warning, line)
  }

  /// Tells the user, and the log.
  public func error(_ line: String) {
    tell(coloured("error: ", 31) + line.plain + "\n")
    ProductLog.append(.error, line)
  }

  /// Tells the user and the log of a mistake on the command line, with lines of help behind it.
  func usageError(_ lines: String) {
    tell(coloured("error: ", 31) + lines.plainLines + "\n")
    ProductLog.append(.error, lines)
  }

  /// Shows how long work goes: redrawn in place on a terminal, else one line each call.
  public func progress(_ line: String) {
    if isQuiet { return }
    tell(isInteractive ? "\r\u{1b}[K" + line.plain : line.plain + "\n")
  }

  /// Ends a redrawn progress line, before other output.
  public func endProgress() {
    if isInteractive && !isQuiet { tell("\n") }
  }

  private func coloured(_ text: String, _ colour: Int) -> String {
    hasColour ? "\u{1b}[1;\(colour)m\(text)\u{1b}[0m" : text
  }

  private func tell(_ text: String) {
    // Without standard error there is nobody to tell.
    try? writeFully(Array(text.utf8), to: 2)
  }
}
