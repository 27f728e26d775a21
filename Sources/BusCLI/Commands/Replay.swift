import AppGroup
import ArgumentParser
import CommandLineSupport
import FrameBus
import NotifyCenter
import Platform
import Replay

/// `framebus replay …`: the last seconds of an upload to `replay:`.
struct ReplayCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay", abstract: "Save the last seconds of an upload to replay:60s.",
    discussion: """
      `framebus upload replay:60s` keeps the last minute of a stream in memory, encoded. It can be \
      saved while the upload runs, and after its process was killed.
      """,
    subcommands: [ReplaySave.self, ReplayStatus.self, ReplayRemove.self])
}

/// `framebus replay save`: parses here, so that help needs no media library, then runs the program
/// that writes containers.
struct ReplaySave: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "save", abstract: "Save the last seconds to a file.",
    discussion: """
      The file begins at the key frame nearest to the requested time, at most half a second away. \
      Nothing is encoded again. Without --crashed, a running upload comes first, then one that was \
      killed. With --on, the files are FILE, NAME-2, NAME-3 and so on, and none is replaced.
      """)

  @OptionGroup var options: ReplaySaveOptions
  @Option(help: ArgumentHelp("Save at each post of this notification.", valueName: "name"))
  var on: String?
  @OptionGroup(title: "With --on") var limits: WatchLimits
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func validate() throws {
    if on == nil, let option = limits.optionArguments.first {
      throw ValidationError("\(option.prefix { $0 != "=" }): it needs --on")
    }
  }

  func run() throws {
    _ = try options.stream()
    let words = options.optionArguments + global.optionArguments
    if let on { return try saveAtPosts(of: on, words) }
    try executeProgram(named: "framebus-upload", ["save-replay"] + words + ["--", options.path])
  }

  private func saveAtPosts(of text: String, _ words: [String]) throws {
    // Before any thread starts, because threads inherit the signal mask.
    let signals = try SignalWatcher()
    let name: NotificationName
    do { name = try NotificationName(text) } catch { throw UsageError("\(error)") }
    let deadline = limits.deadline
    let center = try global.openNotifications(creatingLocal: true)
    let observation = try center.observeByDescriptor(name)
    guard let descriptor = observation.descriptor else { return }
    let saver = ReplaySaver(path: options.path, options: words)
    global.terminal.report("saving at posts of \(name.text.plain)")
    let saved = try limits.shortfall(until: deadline, descriptor, signals) {
      guard try observation.take() != nil else { return false }
      try save(saver)
      return true
    }
    if let saved { throw TooFewPosts(name: name, saved: saved) }
  }

  /// Saves one file. A failure, such as no replay, does not end the watch.
  private func save(_ saver: ReplaySaver) throws {
    let program = try saver.start()
    _ = program.process.wait()
    if let error = program.errorIfEnded(), program.process.status?.isSuccess != true {
      return global.terminal.warn("\(error)")
    }
    if global.json {
      for line in program.collectedOutput().split(separator: "\n") {
        try global.terminal.print(String(line))
      }
    } else {
      global.terminal.report(program.lastWords)
    }
  }
}

/// The timeout passed before `--count` posts arrived.
private struct TooFewPosts: Error, CustomStringConvertible {
  let name: NotificationName
  let saved: Int

  var description: String {
    "timed out after \(counted(saved, "post")) of \(name.text.plain); post with"
      + " `framebus notify post \(name.text.plain)`, or increase --timeout"
  }
}

/// `framebus replay status`: what is in memory.
struct ReplayStatus: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "List the replays in memory.")

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let group = try global.openGroup()
    let found = try ReplayList.find(in: group)
    if global.json {
      try global.terminal.printJSON(found)
    } else if found.isEmpty {
      global.terminal.report("no replay; start one with `framebus upload replay:60s`")
    } else {
      for replay in found { try global.terminal.print(replay.line) }
    }
  }
}

/// `framebus replay remove`: frees the memory of crashed uploaders.
struct ReplayRemove: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove what a crashed uploader left.")

  @OptionGroup var choice: ReplayStreamOption
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let stream = try choice.stream()
    let group = try global.openGroup()
    let directory = try Directory(path: group.streamsPath)
    var removed: [String] = []
    for isCrashed in [false, true] {
      let name = ReplayFile.name(of: stream, isCrashed: isCrashed)
      guard let file = try? ReadableFile(name, in: directory), !file.isLocked else { continue }
      try directory.removeFile(name)
      removed.append(name)
    }
    if removed.isEmpty { throw ReplayError.noCrashed(stream) }
    try global.report("removed \(removed.joined(separator: " and "))", asJSON: ["removed": removed])
  }
}

/// The replays of a group.
private enum ReplayList {
  /// Members can create any number of entries.
  private static let nameLimit = 10_000

  struct Row: Encodable {
    let stream: String
    /// `live`, `crashed`, or `damaged`.
    let state: String
    let user: String
    let requestedSeconds: Double
    let heldSeconds: Double
    let memoryBytes: Int
    let pid: Int32?

    enum CodingKeys: String, CodingKey {
      case stream, state, user, pid
      case requestedSeconds = "requested_seconds"
      case heldSeconds = "held_seconds"
      case memoryBytes = "memory_bytes"
    }

    var line: String {
      let memory = "at most \(memoryBytes >> 20) MiB  by \(user)"
      if state == "damaged" { return "\(stream)  damaged  \(memory)" }
      return "\(stream)  \(state)  holds \(heldSeconds) s of \(requestedSeconds) s  \(memory)"
        + (pid.map { "  pid \($0)" } ?? "")
    }
  }

  static func find(in group: AppGroup) throws(SystemError) -> [Row] {
    let directory = try Directory(path: group.streamsPath)
    let names = try directory.names(atMost: nameLimit)
    var rows: [Row] = []
    for name in names {
      guard let stream = ReplayFile.stream(of: name),
        let file = try? ReadableFile(name, in: directory), let status = try? file.status()
      else { continue }
      rows.append(row(stream, file, user: userName(status.ownerID)))
    }
    return rows
  }

  private static func row(_ stream: StreamName, _ file: ReadableFile, user: String) -> Row {
    guard let replay = try? ReplayReader(file) else {
      return Row(
        stream: stream.text, state: "damaged", user: user, requestedSeconds: 0, heldSeconds: 0,
        memoryBytes: file.byteCount, pid: nil)
    }
    let heldNs = min(replay.heldNs, replay.lengthNs)
    return Row(
      stream: stream.text, state: replay.isLive ? "live" : "crashed", user: user,
      requestedSeconds: tenths(replay.lengthNs), heldSeconds: tenths(heldNs),
      memoryBytes: replay.fileBytes, pid: replay.isLive ? replay.processID : nil)
  }

  private static func tenths(_ nanoseconds: UInt64) -> Double {
    (Double(nanoseconds) / 1e8).rounded() / 10
  }
}
