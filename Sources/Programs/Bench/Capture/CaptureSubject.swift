import CommandLineSupport
import Platform

/// A way to capture a screen and discard the frames: one or two processes, the last of which
/// reports each second how many frames it has received.
struct CaptureSubject: Sendable {
  struct Program: Sendable {
    let name: String
    let path: String
    let arguments: [String]
    var environment: [String: String?] = [:]
  }

  let name: String
  let programs: [Program]
  /// The signal that makes its programs clean up and exit.
  let endSignal: Int32
  /// A file that the first program creates and the second one needs.
  let socketName: String?
  /// The windows of another client beside what every subject captures.
  var windowCount = 0

  /// The start of the lines that its last program prints for each frame, if it prints no count.
  var frameLine: String?

  /// Peers may be missing or broken; FrameBus and the baseline may not.
  var isPeer = false

  init(
    _ name: String, _ programs: [Program], endSignal: Int32 = Signal.terminate,
    socketName: String? = nil
  ) {
    self.name = name
    self.programs = programs
    self.endSignal = endSignal
    self.socketName = socketName
  }
}

extension CaptureSubject {
  /// The path of a program of this package.
  static func own(_ program: String, for name: String) throws(MissingSubject) -> String {
    if let path = siblingProgram(named: program) { return path }
    throw MissingSubject(
      subject: name, program: program,
      remedy: "build it: swift build -c release --product \(program)")
  }

  /// The peers that this machine has.
  static func installed(
    _ peers: [@Sendable () throws(MissingSubject) -> CaptureSubject], _ terminal: Terminal
  ) -> [CaptureSubject] {
    peers.compactMap { peer in
      do throws(MissingSubject) {
        var subject = try peer()
        subject.isPeer = true
        return subject
      } catch {
        terminal.report("skipped \(error)")
        return nil
      }
    }
  }
}

/// A subject that cannot be measured on this machine.
struct MissingSubject: Error, CustomStringConvertible {
  let subject: String
  let program: String
  let remedy: String

  var description: String { "\(subject): program \(program) not found; \(remedy)" }
}

/// The screen that every subject captures, and the directory for sockets.
struct CaptureScene: Sendable {
  let display: String
  let width: Int
  let height: Int
  let framesPerSecond: Int
  let folder: String
  let groupID: String

  func framebus(windows count: Int = 0) throws(MissingSubject) -> CaptureSubject {
    var subject = try framebus("framebus", stream: "bench", ["--backend", "shm"])
    subject.windowCount = count
    return subject
  }

  /// Marked windows are black: each frame is copied, and all windows are followed.
  func protecting(windows count: Int) throws(MissingSubject) -> CaptureSubject {
    var subject = try framebus("framebus-protect", stream: "protected", ["--protect", "marked"])
    subject.windowCount = count
    return subject
  }

  /// A polyhedron that turns about 140 times a second, more often than any subject captures: every
  /// frame differs from the one before, and all subjects capture the same.
  func showContent() throws -> StartedProgram {
    guard let path = programInPath(named: "ico") else {
      throw StartedProgramError.missing("ico", package: "x11-apps")
    }
    return try StartedProgram(
      "ico", path,
      ["-colors", "gold", "-sleep", "0.006", "-lw", "4", "-bg", "black", "-size", "600x600"]
        + ["-geometry", "1200x900+100+50"],
      environment: ["DISPLAY": display])
  }

  /// Small windows of another client: the first is marked, and every second one moves.
  func showWindows(_ count: Int) throws -> StartedProgram? {
    if count == 0 { return nil }
    let path = try own("BareGrab", for: "windows")
    return try StartedProgram("BareGrab", path, [display, "windows", "\(count)"])
  }

  /// The grab of `framebus-capture` in a program without the bus.
  func limit() throws(MissingSubject) -> CaptureSubject {
    let path = try own("BareGrab", for: "limit")
    return CaptureSubject(
      "limit",
      [.init(name: "BareGrab", path: path, arguments: [display, "\(framesPerSecond)"])])
  }

  var peers: [@Sendable () throws(MissingSubject) -> CaptureSubject] {
    [gstreamer, gstreamerShm, ffmpeg, xGetImage]
  }

  private func gstreamer() throws(MissingSubject) -> CaptureSubject {
    CaptureSubject(
      "gstreamer", [try gstreamer("gstreamer", ximagesrc + report + ["fakesink", "sync=false"])],
      endSignal: Signal.interrupt)
  }

  /// The closest peer: two processes and shared memory.
  private func gstreamerShm() throws(MissingSubject) -> CaptureSubject {
    let name = "gstreamer-shm"
    let socket = "\(folder)/shmsink"
    let slots = 3
    let format = "video/x-raw,format=BGRx,width=\(width),height=\(height)"
    let publisher = try gstreamer(
      name,
      ximagesrc + ["shmsink", "socket-path=\(socket)", "sync=false", "wait-for-connection=true"]
        + ["shm-size=\((slots + 1) * width * height * 4)"])
    let subscriber = try gstreamer(
      name,
      ["shmsrc", "socket-path=\(socket)", "do-timestamp=true", "!"]
        + ["\(format),framerate=\(framesPerSecond)/1", "!"] + report + ["fakesink", "sync=false"])
    return CaptureSubject(
      name, [publisher, subscriber], endSignal: Signal.interrupt, socketName: "shmsink")
  }

  private func ffmpeg() throws(MissingSubject) -> CaptureSubject {
    guard let path = programInPath(named: "ffmpeg") else {
      throw MissingSubject(
        subject: "ffmpeg", program: "ffmpeg", remedy: "install it: apt-get install ffmpeg")
    }
    let arguments =
      ["-nostdin", "-loglevel", "error", "-nostats", "-f", "x11grab", "-draw_mouse", "0"]
      + ["-framerate", "\(framesPerSecond)", "-video_size", "\(width)x\(height)", "-i", display]
      + ["-progress", "pipe:1", "-stats_period", "1", "-f", "null", "-"]
    return CaptureSubject(
      "ffmpeg", [.init(name: "ffmpeg", path: path, arguments: arguments)],
      endSignal: Signal.interrupt)
  }

  /// The pixels sent over the X server's socket, as without shared memory.
  private func xGetImage() throws(MissingSubject) -> CaptureSubject {
    try framebus("xgetimage", stream: "socket", ["--backend", "socket"])
  }

  private func framebus(
    _ name: String, stream: String, _ options: [String]
  ) throws(MissingSubject) -> CaptureSubject {
    let capture = try capture(name, stream: stream, options)
    let upload = CaptureSubject.Program(
      name: "framebus-upload", path: try own("framebus-upload", for: name),
      arguments: ["null"] + groupOptions(stream))
    return CaptureSubject(name, [capture, upload])
  }

  /// The publisher of the screen.
  func capture(
    _ name: String, stream: String, _ options: [String]
  ) throws(MissingSubject) -> CaptureSubject.Program {
    .init(
      name: "framebus-capture", path: try own("framebus-capture", for: name),
      arguments: ["screen:\(display)", "--fps", "\(framesPerSecond)", "--no-cursor"]
        + options + groupOptions(stream))
  }

  private func groupOptions(_ stream: String) -> [String] {
    ["--root", folder, "--group", groupID, "--stream", stream, "--json"]
  }

  func own(_ program: String, for name: String) throws(MissingSubject) -> String {
    try CaptureSubject.own(program, for: name)
  }

  private func gstreamer(
    _ name: String, _ pipeline: [String]
  ) throws(MissingSubject) -> CaptureSubject.Program {
    guard let path = programInPath(named: "gst-launch-1.0") else {
      throw MissingSubject(
        subject: name, program: "gst-launch-1.0",
        remedy: "install it: apt-get install gstreamer1.0-tools gstreamer1.0-plugins-good "
          + "gstreamer1.0-plugins-bad")
    }
    return .init(name: "gst-launch-1.0", path: path, arguments: ["-q"] + pipeline)
  }

  /// Without DAMAGE, which makes it many times slower on a moving screen: it then copies the last
  /// frame and fetches the changes over the socket.
  private var ximagesrc: [String] {
    ["ximagesrc", "display-name=\(display)", "use-damage=false", "show-pointer=false", "!"]
      + ["video/x-raw,framerate=\(framesPerSecond)/1", "!"]
  }

  private var report: [String] {
    ["progressreport", "do-query=false", "update-freq=1", "format=buffers", "!"]
  }
}
