import AppGroup
import ArgumentParser
import CommandLineSupport
import Platform
import Upload

/// `framebus demo`: broadcasts a screen into a file and shows the work of each role.
struct DemoCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo",
    abstract: "Broadcast a screen into a file and show the figures.",
    discussion: """
      Creates a group in a temporary directory and hosts a broadcast in it: settings in a suite, a \
      token sealed for the extension, a confined process that captures a screen into shared \
      memory, and a confined extension that records it. Shows the notification of each change, \
      and at the end the log of all three. Without an X11 screen, it starts a virtual one with \
      moving windows. With --wayland it records the Wayland session, or without one a virtual \
      compositor (sway).
      """)

  private static let folderPrefix = "framebus-demo-"

  @OptionGroup var global: GlobalOptions

  @Option(help: "Seconds to record.")
  var seconds = 10

  @Option(help: ArgumentHelp("Output, a .mkv or .mp4 file.", valueName: "file"))
  var output = "framebus-demo.mkv"

  @Option(help: "Frames per second.")
  var fps = 30

  @Flag(help: "Use a virtual screen even if a real one exists.")
  var virtual = false

  @Flag(help: "Record a Wayland session instead of an X11 screen.")
  var wayland = false

  @Flag(help: "Keep the group's directory.")
  var keep = false

  func validate() throws {
    guard (1...86_400).contains(seconds) else {
      throw ValidationError("--seconds \(seconds): use 1 to 86400")
    }
    guard (1...240).contains(fps) else { throw ValidationError("--fps \(fps): use 1 to 240") }
    guard output.hasSuffix(".mkv") || output.hasSuffix(".mp4") else {
      throw ValidationError("--output \(output): use a name that ends in .mkv or .mp4")
    }
    if global.rootText != nil {
      throw ValidationError(
        "--root: a demo creates its own directory; --keep keeps it and prints its path")
    }
  }

  func run() throws {
    // Before any thread starts, because all threads must block the signals.
    let signals = try SignalWatcher()
    // Before anything starts that would need to be stopped.
    do { try OutputFile(output).checkWritable() } catch {
      throw DestinationError.cannotWrite(error)
    }
    TemporaryFolder.removeLeftovers(prefix: Self.folderPrefix)
    let folder = try TemporaryFolder(prefix: Self.folderPrefix, isKept: keep)
    defer { leave(folder) }
    let id = try global.groupID()
    let group = try AppGroup.create(id, root: folder.path)
    let terminal = global.terminal
    ProductLog.begin(
      "framebus demo", in: group, as: .host, global,
      options: ["--seconds=\(seconds)", "--fps=\(fps)", "--output=\(output)"]
        + (wayland ? ["--wayland"] : []))
    terminal.report("group      \(id) in \(folder.path)")
    let demo = DemoRun(
      seconds: seconds, output: output, framesPerSecond: fps, isVirtual: virtual,
      usesWayland: wayland, group: group,
      groupArguments: ["--root", folder.path, "--group", id.description], terminal: terminal,
      stop: signals.stop)
    let figures: DemoFigures
    do {
      figures = try demo.run()
    } catch {
      // A stop makes the operation in progress fail; that error is not reported.
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
    // Before the directory of the log is removed.
    ProductLog.close()
    if keep {
      global.terminal.report("kept       \(folder.path)")
      return
    }
    do {
      try folder.remove()
    } catch {
      global.terminal.warn("cannot remove \(folder.path): \(error)")
    }
  }
}
