import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

/// Sound of applications and devices of a PipeWire server, by the names of their nodes.
@Suite(.enabled(if: PipeWireSession.isAvailable, "\(PipeWireSession.need)"))
struct PipeWireSoundTests {
  private let world: PortalWorld

  init() throws { world = try PortalWorld() }

  /// An application that plays a tone without end.
  private func application(_ name: String, hertz: Int) throws -> RunningProgram {
    try source(name, hertz: hertz, class: "Stream/Output/Audio")
  }

  private func source(_ name: String, hertz: Int, class: String) throws -> RunningProgram {
    let program = try world.session.start(
      "gst-launch-1.0",
      [
        "-q", "audiotestsrc", "is-live=true", "freq=\(hertz)", "volume=0.5", "!",
        "audio/x-raw,format=F32LE,rate=44100,channels=2", "!", "pipewiresink",
        "stream-properties=props,media.class=\(`class`),node.name=\(name),node.autoconnect=false"
          + ",application.name=\(name)-player",
      ])
    try waitUntil("node \(name): \(program.transcript)") { try nodes().contains("\"\(name)\"") }
    return program
  }

  private func nodes() throws -> String {
    try run("pw-cli", ["ls", "Node"], environment: world.session.environment).output
  }

  private func subscriber(_ events: StreamEvents? = nil) throws -> Subscriber {
    var options = SubscriberOptions()
    // Chunks follow each other also on a busy machine.
    options.policy = .keepLatest(32)
    options.onEvent = { events?.add($0) }
    return try Subscriber(
      StreamName("audio.app"), in: world.group, options: options,
      waitingForPublisherUntil: .after(.seconds(60)))
  }

  /// The frequency of half a second of sound above silence, by its rises through zero.
  private func hertz(_ subscriber: inout Subscriber, _ program: RunningProgram) throws -> Double {
    let deadline = Deadline.after(.seconds(60))
    var left: [Int16] = []
    while left.count < 24_000 {
      guard !deadline.isPast else { throw HarnessError("no sound: \(program.transcript)") }
      guard case .frame(let lease) = try subscriber.next(until: .after(.seconds(1))) else {
        continue
      }
      // SAFETY: the bytes are read while the lease lives.
      let samples = unsafe lease.withUnsafeBytes { bytes in
        stride(from: 0, to: bytes.count & ~3, by: 4).map {
          unsafe bytes.loadUnaligned(fromByteOffset: $0, as: Int16.self)
        }
      }
      if samples.allSatisfy({ abs(Int($0)) < 1000 }) { left = [] } else { left += samples }
    }
    let rises: [Double] = left.indices.dropFirst().compactMap { index in
      let (before, after) = (Double(left[index - 1]), Double(left[index]))
      return before < 0 && after >= 0 ? Double(index) - after / (after - before) : nil
    }
    // A busy machine leaves gaps. Most spans of some periods have none.
    let count = 8
    let spans = zip(rises, rises.dropFirst(count)).map { $1 - $0 }.sorted()
    try #require(!spans.isEmpty)
    return Double(count) * 48_000 / spans[spans.count / 2]
  }

  @Test func toneOfAnApplicationIsCaptured() throws {
    try withWatchdog {
      let player = try application("tone", hertz: 997)
      // By the name of its node, and by that of the application.
      for name in ["tone", "tone-player"] {
        let capture = try world.capture(source: "pipewire:\(name)")
        var subscriber = try subscriber()
        let found = try hertz(&subscriber, capture)
        #expect(abs(found - 997) < 2, "\(name): \(found)")
        #expect(try capture.end(with: SIGTERM).status == .exited(0), "\(capture.transcript)")
      }
      player.process.end(with: SIGTERM)
    }
  }

  /// What is played on an output, and a microphone.
  @Test func tonesOfDevicesAreCaptured() throws {
    try withWatchdog {
      let device =
        "{ factory.name=support.null-audio-sink node.name=out media.class=Audio/Sink"
        + " object.linger=true audio.position=[FL FR] }"
      let made = try run(
        "pw-cli", ["create-node", "adapter", device], environment: world.session.environment)
      #expect(made.status.isSuccess, "\(made.errors)")
      try waitUntil("the output is there") { try nodes().contains("\"out\"") }
      let player = try world.session.start(
        "gst-launch-1.0",
        [
          "-q", "audiotestsrc", "is-live=true", "freq=641", "volume=0.5", "!",
          "audio/x-raw,format=F32LE,rate=48000,channels=2", "!", "pipewiresink",
          "target-object=out",
        ])
      let microphone = try source("mic", hertz: 1511, class: "Audio/Source")
      for (name, expected) in [("out", 641.0), ("mic", 1511)] {
        let capture = try world.capture(source: "pipewire:\(name)")
        var subscriber = try subscriber()
        let found = try hertz(&subscriber, capture)
        #expect(abs(found - expected) < 2, "\(name): \(found)")
        #expect(try capture.end(with: SIGTERM).status == .exited(0), "\(capture.transcript)")
      }
      player.process.end(with: SIGTERM)
      microphone.process.end(with: SIGTERM)
    }
  }

  @Test func absentNodeIsAnErrorThatNamesTheOthers() throws {
    try withWatchdog {
      let player = try application("tone", hertz: 997)
      try world.expectFailure(
        "no node with sound named “nobody”; nodes are tone", source: "pipewire:nobody")
      try world.expectFailure("needs the name of a node", source: "pipewire:")
      try world.expectFailure(
        "cannot connect to PipeWire", source: "pipewire:tone",
        environment: ["XDG_RUNTIME_DIR": world.root.path])
      player.process.end(with: SIGTERM)
    }
  }

  /// Nothing takes the place of a node that has ended, such as a microphone.
  @Test func nodeThatEndsPausesTheStreamUntilItIsBack() throws {
    try withWatchdog {
      let player = try application("tone", hertz: 997)
      let microphone = try source("mic", hertz: 1511, class: "Audio/Source")
      let capture = try world.capture(source: "pipewire:tone")
      let events = StreamEvents()
      var subscriber = try subscriber(events)
      #expect(abs(try hertz(&subscriber, capture) - 997) < 2)
      try player.end(with: SIGKILL)
      try waitUntil("the pause is told, only \(events.all)\n\(capture.transcript)") {
        while case .frame = try subscriber.next(until: .after(.milliseconds(20))) {}
        return events.count(.paused(.unavailable)) == 1
      }
      // Half a second in which the microphone could be heard.
      let quietUntil = Deadline.after(.milliseconds(500))
      while !quietUntil.isPast {
        if case .frame = try subscriber.next(until: quietUntil) {
          Issue.record("sound of another node: \(capture.transcript)")
        }
      }
      let again = try application("tone", hertz: 773)
      let found = try hertz(&subscriber, capture)
      #expect(abs(found - 773) < 2, "\(found)")
      #expect(events.count(.resumed) == 1, "\(events.all)")
      #expect(capture.errors.text.contains("“tone” is back"))
      #expect(try capture.end(with: SIGTERM).status == .exited(0), "\(capture.transcript)")
      for program in [again, microphone] { program.process.end(with: SIGTERM) }
    }
  }

  /// In a broadcast, the capture of sound is sandboxed.
  @Test func confinedBroadcastHasTheSoundOfANode() throws {
    try withWatchdog {
      let player = try application("tone", hertz: 997)
      let group = ["--root", world.root.path, "--group", "org.example.test"]
      try output(
        of: "framebus", group + ["extension", "register", "--builtin", "null", "--id", "up"])
      let host = try RunningProgram(
        "framebus",
        group + [
          "broadcast", "start", "up", "--yes", "--source", "test", "--app-source", "pipewire:tone",
        ], environment: world.session.environment)
      var subscriber = try subscriber()
      let found = try? hertz(&subscriber, host)
      let log = try output(of: "framebus", group + ["log"])
      #expect(abs((found ?? 0) - 997) < 2, "\(log)")
      #expect(log.contains("the capture is confined"), "\(log)")
      try output(of: "framebus", group + ["broadcast", "stop"])
      #expect(try host.finish().status == .exited(0), "\(host.transcript)")
      player.process.end(with: SIGTERM)
    }
  }
}
