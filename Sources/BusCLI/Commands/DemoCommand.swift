import AppGroup
import ArgumentParser
import CommandLineSupport
import Platform
import Upload

/// `framebus demo`: a broadcast of a screen into a file, and what its roles did.
struct DemoCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo",
    abstract: "Broadcast a screen into a file, and show what was done and the figures.",
    discussion: """
      Makes a group of its own in a temporary directory, and is the host of a broadcast in it: \
      settings in a suite, a token sealed for the extension, a confined process that captures a \
      screen into shared memory and another, the extension, that records it. Each change is shown \
      as its notification comes, and at the end the log of all three. Where there is no X11 \
      screen, it starts a virtual one with moving windows.
      """)

  @OptionGroup var global: GlobalOptions

  @Option(help: "How long to record.")
  var seconds = 10

  @Option(help: ArgumentHelp("Where to record: a .mkv or .mp4 file.", valueName: "file"))
  var output = "framebus-demo.mkv"

  @Option(help: "Frames a second.")
  var fps = 30

  @Flag(help: "Use a virtual screen even if there is a real one.")
  var virtual = false

  @Flag(help: "Keep the group's directory, to look at.")
  var keep = false

  func validate() throws {
    guard (1...86_400).contains(seconds) else {
      throw ValidationError("--seconds is 1 to 86400")
    }
    guard (1...240).contains(fps) else { throw ValidationError("--fps is 1 to 240") }
    guard output.hasSuffix(".mkv") || output.hasSuffix(".mp4") else {
      throw ValidationError("--output ends in .mkv or .mp4")
    }
    if global.rootText != nil {
      throw ValidationError("--root: a demo has a place of its own; see where with --keep")
    }
  }

  func run() throws {
    // First of all, so that no thread is without it.
    let signals = try SignalWatcher()
    // Before anything is up that would then have to go.
    do { try OutputFile(output).checkWritable() } catch {
      throw DestinationError.cannotWrite(error)
    }
    let folder = try TemporaryFolder(prefix: "framebus-demo-")
    defer { leave(folder) }
    let id = try global.groupID()
    let group = try AppGroup.create(id, root: folder.path)
    let terminal = global.terminal
    ProductLog.begin(
      "framebus demo", in: group, as: .host, global,
      options: ["--seconds=\(seconds)", "--fps=\(fps)", "--output=\(output)"])
    terminal.say("group      \(id) in \(folder.path)")
    let demo = DemoRun(
      seconds: seconds, output: output, framesPerSecond: fps, isVirtual: virtual, group: group,
      groupArguments: ["--root", folder.path, "--group", id.description], terminal: terminal,
      stop: signals.stop)
    let figures: DemoFigures
    do {
      figures = try demo.run()
    } catch {
      // A stop makes whatever was under way fail: that failure is no news.
      if signals.stop.isRaised { throw Interrupted() }
      throw error
    }
    if global.json {
      try terminal.printJSON(figures, onOneLine: true)
    } else if !global.quiet {
      for line in figures.lines { try terminal.print(line) }
    }
    if signals.stop.isRaised { throw Interrupted() }
  }

  private func leave(_ folder: TemporaryFolder) {
    // Before its directory goes.
    ProductLog.close()
    if keep {
      global.terminal.say("kept       \(folder.path)")
      return
    }
    do {
      try folder.remove()
    } catch {
      global.terminal.warn("\(folder.path) could not be removed: \(error)")
    }
  }
}
