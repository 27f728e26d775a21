import AppGroup
import ArgumentParser
import CommandLineSupport
import Platform
import Replay
import Upload
import UploadGStreamer

/// `framebus replay save FILE`: the last seconds of an upload to `replay:`, as a file.
struct SaveReplay: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "save-replay", abstract: "Save the last seconds of an upload to replay:.",
    shouldDisplay: false)

  @OptionGroup var options: ReplaySaveOptions
  @OptionGroup var global: GlobalOptions

  func run() throws {
    #if Media
      let lastNs = try lastNs()
      let stream = try options.stream()
      let group = try global.openGroup()
      try group.require(global.role(default: .host))
      do {
        let file = try ReplayFileWriter(path: options.path)
        try updatePluginRegistry()
        let replay = try ReplayReader.open(
          stream, in: group.streamsPath, isCrashed: options.crashed)
        let units = try replay.units(lastNs: lastNs)
        try file.write(units)
        let saved = SavedReplay(options.path, units, isCrashed: !replay.isLive)
        if global.json { return try global.terminal.printJSON(saved, onOneLine: true) }
        global.terminal.report(saved.line)
      } catch let error as DestinationError where error.isMisuse {
        throw UsageError("\(error)")
      }
    #else
      throw UsageError("this build cannot save replays: it lacks the package trait Media")
    #endif
  }

  private func lastNs() throws(UsageError) -> UInt64? {
    guard let text = options.last else { return nil }
    guard let length = ReplayLength(text) else {
      throw UsageError("--last \(text.plain): \(ReplayLength.advice)")
    }
    return length.nanoseconds
  }
}

/// What was saved.
private struct SavedReplay: Encodable {
  let path: String
  let seconds: Double
  let pictures: Int
  let hasSound: Bool
  let isCrashed: Bool

  enum CodingKeys: String, CodingKey {
    case path, seconds, pictures
    case hasSound = "has_sound"
    case isCrashed = "is_crashed"
  }

  init(_ path: String, _ units: [ReplayUnit], isCrashed: Bool) {
    let begin = units.map(\.ptsNs).min() ?? 0
    let end = units.map { $0.ptsNs + $0.durationNs }.max() ?? 0
    self.path = path
    seconds = (Double(end - begin) / 1e6).rounded() / 1e3
    pictures = units.count { $0.kind == .picture }
    hasSound = units.contains { $0.kind == .sound }
    self.isCrashed = isCrashed
  }

  var line: String {
    "\(path.plain): \(seconds) s, \(counted(pictures, "picture"))"
      + (hasSound ? " and sound" : "")
      + (isCrashed ? "; its uploader had ended" : "")
  }
}
