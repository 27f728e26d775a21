import CommandLineSupport
import Platform
import Synchronization

/// A PipeWire server of the benchmark's own, and a node such as a desktop's portal shares: another
/// picture 60 times a second, with its number and the moment of its drawing.
struct PipeWireScene: Sendable {
  let server: StartedProgram
  let folder: String
  let groupID: String
  private let environment: [String: String?]
  private let others: [StartedProgram]
  private let node: String

  private static let framesPerSecond = 60

  /// - Parameter folder: where its sockets are, for this user alone.
  init(width: Int, height: Int, folder: String, groupID: String, _ run: BenchRun) throws {
    let runtime = try Directory(path: folder).makeDirectory("pipewire", mode: 0o700)
    let environment = try Self.configure(runtime)
    var started: [StartedProgram] = []
    func start(
      _ name: String, _ path: String, _ arguments: [String] = [],
      onLine: (@Sendable (Substring) -> Void)? = nil
    ) throws -> StartedProgram {
      let program = try StartedProgram(
        name, path, arguments, environment: environment, onLine: onLine)
      started.append(program)
      return program
    }
    do {
      let names = ["dbus-daemon", "pipewire", "wireplumber"]
      let paths = try names.map { name in
        guard let path = programInPath(named: name) else {
          throw StartedProgramError.missing(name, package: name == names[0] ? "dbus" : name)
        }
        return path
      }
      let bus = try start(
        names[0], paths[0], ["--nofork", "--config-file=\(runtime.path)/bus.conf"])
      try Self.wait(for: "bus", in: runtime, of: bus, run)
      server = try start(names[1], paths[1])
      try Self.wait(for: "pipewire-0", in: runtime, of: server, run)
      _ = try start(names[2], paths[2])
      let isThere = try StopSignal()
      let found = Found()
      let content = try start(
        "BareNode", try CaptureSubject.own("BareNode", for: "content"),
        ["show", "\(width)", "\(height)"]
      ) { line in
        guard let number = line.split(separator: " ").last, line.hasPrefix("node ") else { return }
        found.node.withLock { $0 = String(number) }
        isThere.raise()
      }
      try run.wait(for: isThere, of: [content], subject: "the node", seconds: 0)
      node = found.node.withLock { $0 }
    } catch {
      for program in started.reversed() { program.stop() }
      throw error
    }
    others = started
    self.folder = folder
    self.groupID = groupID
    self.environment = environment
  }

  private final class Found: Sendable { let node = Mutex("") }

  func stop() { for program in others.reversed() { program.stop() } }

  func errorIfEnded() -> (any Error)? { others.lazy.compactMap { $0.errorIfEnded() }.first }

  /// No services of this machine, and nobody's devices.
  private static func configure(
    _ runtime: borrowing Directory
  ) throws(SystemError) -> [String: String?] {
    func write(_ name: String, _ text: String, in folder: borrowing Directory) throws(SystemError) {
      try folder.replaceFile(name, with: Array(text.utf8), mode: 0o600, isSynced: false)
    }
    let bus = "unix:path=\(runtime.path)/bus"
    try write(
      "bus.conf",
      """
      <busconfig><type>session</type><listen>\(bus)</listen><policy context="default">
      <allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/>
      </policy></busconfig>
      """, in: runtime)
    let settings = try runtime.makeDirectory("wireplumber", mode: 0o700)
    let devices = ["alsa_monitor", "v4l2_monitor", "libcamera_monitor"].map {
      "if \($0) then \($0).enabled = false end\n"
    }
    let files = [
      ("main.lua.d", devices.joined()),
      // Without a login session, WirePlumber ends at once if it asks logind for Bluetooth's seat.
      ("bluetooth.lua.d", "bluez_monitor.enabled = false\n"),
    ]
    for (name, text) in files {
      let folder = try settings.makeDirectory(name, mode: 0o700)
      try write("51-no-devices.lua", text, in: folder)
    }
    return [
      "XDG_RUNTIME_DIR": runtime.path, "XDG_CONFIG_HOME": runtime.path,
      "XDG_STATE_HOME": runtime.path + "/state", "DBUS_SESSION_BUS_ADDRESS": bus,
      "PIPEWIRE_RUNTIME_DIR": nil, "PIPEWIRE_REMOTE": nil, "DISPLAY": nil, "WAYLAND_DISPLAY": nil,
    ]
  }

  private static func wait(
    for socket: String, in runtime: borrowing Directory, of program: StartedProgram,
    _ run: BenchRun
  ) throws {
    let deadline = Deadline.after(.seconds(BenchRun.startTimeoutSeconds))
    while try runtime.status(of: socket) == nil {
      if let error = program.errorIfEnded() { throw error }
      if run.stop.isRaised { throw Interrupted() }
      if deadline.isPast {
        throw NoFrames(
          subject: program.name, seconds: BenchRun.startTimeoutSeconds,
          lastWords: program.lastWords)
      }
      _ = program.process.wait(until: .after(.milliseconds(20)), stop: run.stop)
    }
  }
}

extension PipeWireScene {
  func framebus() throws(MissingSubject) -> CaptureSubject {
    let stream = "portal"
    let capture = try own(
      "framebus-capture", for: "framebus",
      ["portal", "--grant", node, "--fps", "\(Self.framesPerSecond)"]
        + ["--root", folder, "--group", groupID, "--stream", stream])
    let reader = try own("BusViewer", for: "framebus", [folder, stream, "numbers"])
    return CaptureSubject("framebus", [capture, reader])
  }

  /// A client of libpipewire in a program without the bus.
  func limit() throws(MissingSubject) -> CaptureSubject {
    CaptureSubject("limit", [try own("BareNode", for: "limit", [node])])
  }

  var peers: [@Sendable () throws(MissingSubject) -> CaptureSubject] {
    [pipewiresrc, pipewiresrcShm]
  }

  /// With any caps it never links: the caps stand behind it.
  private var element: String { "pipewiresrc path=\(node) ! video/x-raw" }

  /// One process, which passes the pictures to no other.
  private func pipewiresrc() throws(MissingSubject) -> CaptureSubject {
    CaptureSubject("pipewiresrc", [try reader("pipewiresrc", element)])
  }

  /// The closest peer: two processes and shared memory.
  private func pipewiresrcShm() throws(MissingSubject) -> CaptureSubject {
    let name = "pipewiresrc-shm"
    guard let path = programInPath(named: "gst-launch-1.0") else {
      throw MissingSubject(
        subject: name, program: "gst-launch-1.0",
        remedy: "install it: apt-get install gstreamer1.0-tools gstreamer1.0-plugins-bad")
    }
    let format = "video/x-raw,format=BGRx,width=\(PipeWireSuite.width)"
    let size = "\(format),height=\(PipeWireSuite.height),framerate=\(Self.framesPerSecond)/1"
    let socket = "\(folder)/shmsink"
    let slots = 4 * PipeWireSuite.width * PipeWireSuite.height * 4
    let words =
      ["-q"] + element.split(separator: " ").map(String.init) + [
        "!", "shmsink", "socket-path=\(socket)", "sync=false", "wait-for-connection=true",
        "shm-size=\(slots)",
      ]
    return CaptureSubject(
      name,
      [
        .init(name: "gst-launch-1.0", path: path, arguments: words, environment: environment),
        try reader(name, "shmsrc socket-path=\(socket) do-timestamp=true ! \(size)"),
      ], endSignal: Signal.interrupt, socketName: "shmsink")
  }

  private func reader(
    _ name: String, _ elements: String
  ) throws(MissingSubject) -> CaptureSubject.Program {
    guard let path = siblingProgram(named: "ElementReader") else {
      throw MissingSubject(
        subject: name, program: "ElementReader", remedy: "build it: scripts/peers")
    }
    return .init(
      name: "ElementReader", path: path, arguments: [elements], environment: environment)
  }

  private func own(
    _ program: String, for name: String, _ arguments: [String]
  ) throws(MissingSubject) -> CaptureSubject.Program {
    .init(
      name: program, path: try CaptureSubject.own(program, for: name), arguments: arguments,
      environment: environment)
  }
}
