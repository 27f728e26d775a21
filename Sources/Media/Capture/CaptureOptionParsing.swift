import FrameBus
import Platform

/// Why a frame rate or a size cannot be parsed.
public enum CaptureOptionError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The text is not a frame rate.
  case badRate(String)
  /// The text is not a size.
  case badSize(String)
  /// The option cannot have this value.
  case badValue(CaptureSettings.Option, String, use: String)
  /// The text names no window.
  case badWindow(String)
  /// There are more rules than a capture can have.
  case tooManyWindows(Int)
  /// Both of two options that exclude each other.
  case isolatedSocket
  /// A kind of source of which no window can be made black.
  case noProtection(String)
  /// Options that a kind of source does not have, and those that it has.
  case notOfSource([String], kind: String, known: [String])

  public var description: String {
    switch self {
    case .badRate(let text):
      "“\(text)” is not a frame rate: give 1 to 240 frames per second, such as 30 or 30000/1001"
    case .badSize(let text):
      "“\(text)” is not a size: give WIDTHxHEIGHT in pixels, from 1x1 to 16384x16384, "
        + "such as 1280x720, followed by +X+Y for a region of a screen"
    case .badValue(let option, let text, let use): "\(option.rawValue) \(text.plain): use \(use)"
    case .badWindow(let text):
      "protect “\(text.plain)”: use a program's name or a window's ID, without spaces"
    case .tooManyWindows(let count):
      "protect: \(count) windows are more than \(WindowRule.maximumCount); name programs instead"
    case .isolatedSocket:
      "isolate: the socket backend shares no memory anyway; remove one of the two options"
    case .noProtection(let kind):
      "protect is impossible for \(kind): only screen and window sources know where windows are; "
        + "leave it out, and keep what must not be seen away from the source"
    case .notOfSource(let options, let kind, let known):
      "\(options.joined(separator: ", --")): no effect on the source \(kind); leave this out; "
        + "it has --\(known.joined(separator: ", --"))"
    }
  }
}

/// Parses `30` or `30000/1001`.
public func parseFrameRate(_ text: String) throws(CaptureOptionError) -> FrameRate {
  let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
  guard (1...2).contains(parts.count), let numerator = parts[0],
    let denominator = parts.count == 2 ? parts[1] : 1,
    (1...1_000_000).contains(denominator), numerator >= denominator,
    numerator / denominator <= 240, numerator <= 240_000_000
  else { throw .badRate(text) }
  return FrameRate(numerator, denominator)
}

/// Parses `WIDTHxHEIGHT` or `WIDTHxHEIGHT+X+Y`.
public func parseSize(_ text: String) throws(CaptureOptionError) -> PixelRect {
  let parts = text.split(separator: "+", omittingEmptySubsequences: false)
  let size = parts[0].split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
  let origin = parts.dropFirst().map { Int($0) }
  guard size.count == 2, let width = size[0], let height = size[1],
    (1...16384).contains(width), (1...16384).contains(height),
    parts.count == 1 || parts.count == 3
  else { throw .badSize(text) }
  guard parts.count == 3 else { return PixelRect(x: 0, y: 0, width: width, height: height) }
  guard let x = origin[0], let y = origin[1], (0...32767).contains(x), (0...32767).contains(y)
  else { throw .badSize(text) }
  return PixelRect(x: x, y: y, width: width, height: height)
}
