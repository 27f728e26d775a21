import AppGroup
import Capture
import FrameBus

/// The table `[capture]` of a manifest: an extension's preferences for the capture. It has no key
/// that shows a window which would not be shown without it, or hides that a screen is captured.
extension CaptureSettings {
  /// The keys with one value. The rate and the size are preferences in `[format]`.
  private static let preferred: [Option] = [
    .orientation, .cursor, .isolate, .backend, .force, .silence, .whileSaver, .secret,
  ]

  static let manifestKeys = ["protect"] + preferred.map(\.rawValue)

  init(_ table: ManifestTable) throws(ExtensionManifestError) {
    self.init()
    try table.refuseUnknown(Self.manifestKeys)
    if let texts = try table.strings("protect") {
      do throws(CaptureOptionError) { protection = .on(try WindowRule.list(texts)) } catch {
        throw table.error("protect", "\(error)")
      }
    }
    for option in Self.preferred {
      guard let text = try table.text(of: option) else { continue }
      do throws(CaptureOptionError) {
        try set(option, text)
        try check()
      } catch { throw table.error(option.rawValue, "\(error)") }
    }
  }

  /// The lines that ``init(_:)`` parses.
  var manifestLines: [String] {
    var lines: [String] = []
    if case .on(let rules)? = protection {
      let texts = rules.map { "\"\(ExtensionManifest.escaped($0.text))\"" }
      lines.append("protect = [\(texts.joined(separator: ", "))]\n")
    }
    for option in Self.preferred {
      guard let text = text(of: option) else { continue }
      let isText = [.backend, .whileSaver, .secret].contains(option)
      let value = isText ? "\"\(ExtensionManifest.escaped(text))\"" : text
      lines.append("\(option.rawValue) = \(value)\n")
    }
    return lines
  }
}

extension ManifestTable {
  fileprivate func text(
    of option: CaptureSettings.Option
  ) throws(ExtensionManifestError) -> String? {
    switch option {
    case .orientation, .silence: try integer(option.rawValue, in: 0...Int.max).map { "\($0)" }
    case .cursor, .isolate, .force: try boolean(option.rawValue).map { "\($0)" }
    case .backend, .whileSaver, .fps, .size, .content, .format, .control, .secret:
      try string(option.rawValue)
    }
  }
}

extension ExtensionManifest {
  /// The preferences for the capture of a source. The preferred size is that of a test pattern, not
  /// a part of a screen.
  func preferences(for source: String) -> CaptureSettings {
    var preferences = capture
    preferences.frameRate = format.framesPerSecond.map { FrameRate($0) }
    if let width = format.width, let height = format.height, source.hasPrefix("test") {
      preferences.region = PixelRect(x: 0, y: 0, width: width, height: height)
    }
    return preferences
  }
}
