import Broadcast
import CredentialStore
import Foundation
import FrameBus
import Platform
import WorkerSupport

/// Traces the order of its calls, and fails where a test requests it.
final class TracingHandler: BroadcastSampleHandler, IdleHandler {
  private let settings: Settings
  private let trace: FileHandle?
  private var frameCount = 0
  private var lastLine = ""
  /// For each kind, the samples of the current generation.
  private var soundCounts: [SampleBufferType: (generation: UInt64, count: Int)] = [:]
  private var kept: [RetainedSampleBuffer] = []
  private var check: PictureCheck?
  private var slowDestination: SlowDestination?
  private var attempt = 0
  private(set) var worksAt = Deadline.never

  init(_ settings: Settings) {
    self.settings = settings
    trace = settings["trace"].flatMap { FileHandle(forWritingAtPath: $0) }
    _ = try? trace?.seekToEnd()
  }

  override func broadcastStarted(setupInfo: SetupInfo) throws(BroadcastFailure) {
    attempt = setupInfo.attempt
    write("started \(attempt)")
    if settings["check"] != nil { check = PictureCheck() }
    if settings["connects"] != nil { connection.connecting() }
    if let failure = settings["connecting"] { connection.connecting(failure) }
    if let interval = settings["sendEveryMs"].flatMap(Int.init) {
      slowDestination = try? SlowDestination(sendingEvery: .milliseconds(interval))
    }
    if settings["fail"] == "signIn" {
      throw BroadcastFailure(
        domain: "WHIP", code: 401, reason: "Not Logged In", recovery: "Go to Application")
    }
    if let credential = settings["credential"] { try open(credential, setupInfo) }
    if settings["setup"] != nil { traceSetup(setupInfo) }
  }

  override func broadcastPaused(for reasons: [BroadcastPause]) throws(BroadcastFailure) {
    write("paused \(reasons.map(\.description).joined(separator: " "))")
  }

  override func broadcastResumed() throws(BroadcastFailure) { write("resumed") }

  override func broadcastAnnotated(
    applicationInfo: ApplicationInfo
  ) throws(BroadcastFailure) {
    write("annotated \(applicationInfo.applicationID)")
  }

  override func processSampleBuffer(
    _ sample: borrowing SampleBuffer, type: SampleBufferType
  ) throws(BroadcastFailure) {
    if type != .video, settings["sound"] != nil { return countSound(sample, type) }
    frameCount += 1
    // One line for consecutive samples.
    let line = settings["colour"] == nil ? type.rawValue : "\(type.rawValue) \(colour(of: sample))"
    if lastLine != line { write(line) }
    if settings["processesOn"] != nil, frameCount == 1 {
      while !isTold("processesOn") { sleep(until: .after(.milliseconds(1))) }
    }
    if settings["liveOn"] != nil, isTold("liveOn") {
      _ = try? startThread(named: "network") { [connection] in connection.live() }
    }
    if settings["failOn"] != nil, isTold("failOn") {
      finishBroadcast(withError: BroadcastFailure(domain: "test", code: 8, reason: "broken"))
    }
    // Longer than the frame interval of any moving source.
    if settings["idle"] != nil { worksAt = .after(.milliseconds(500)) }
    if settings["keep"] != nil { keep(sample) }
    slowDestination?.add(sample)
    if settings.number("runaway", 0) == attempt { runAway() }
    if let problem = sample.withBytes({
      check?.problem(sample.format, generation: sample.generation, $0)
    }) {
      write("the picture \(problem)")
    }
    if frameCount == settings.number("failAfter", 0) {
      finishBroadcast(
        withError: BroadcastFailure(domain: "test", code: 7, reason: "enough \"of\" it\n"))
    }
  }

  override func broadcastFinished() {
    if let time = settings["finishMs"].flatMap(Int.init) {
      write("finishes")
      sleep(until: .after(.milliseconds(time)))
    }
    write("finished")
  }

  func workWhileIdle() {
    worksAt = .never
    write("idle")
  }

  /// Whether a test has appended the setting's word to the trace.
  private func isTold(_ setting: String) -> Bool {
    guard let path = settings["trace"], let word = settings[setting] else { return false }
    return (try? String(contentsOfFile: path, encoding: .utf8))?.contains(word) == true
  }

  /// The colour of the first pixel, as `rrggbb`.
  private func colour(of sample: borrowing SampleBuffer) -> String {
    sample.withBytes { bytes in
      // SAFETY: each byte of the span is read as a byte.
      let pixel = unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0.prefix(3)) }
      return pixel.reversed().map { String(format: "%02x", $0) }.joined()
    }
  }

  /// Allocates memory until the process is killed.
  private func runAway() {
    var taken: [[UInt8]] = []
    while true { taken.append(Array(repeating: UInt8(taken.count & 0xff), count: 1 << 20)) }
  }

  /// Traces the number of samples of a kind once it reaches the number that a test requests.
  private func countSound(_ sample: borrowing SampleBuffer, _ type: SampleBufferType) {
    var count = soundCounts[type] ?? (sample.generation, 0)
    if count.generation != sample.generation { count = (sample.generation, 0) }
    count.count += 1
    soundCounts[type] = count
    guard count.count == settings.number("sound", 0), let audio = sample.format.audio else {
      return
    }
    let sampleFrames = audio.sampleFrameCount(inBytes: sample.byteCount)
    write(
      "\(type.rawValue) \(count.count) \(audio.sampleRate)x\(audio.channelCount) \(sampleFrames)")
  }

  private func keep(_ sample: borrowing SampleBuffer) {
    do throws(RetainError) {
      kept.append(try sample.retain())
    } catch {
      let sequences = Set(kept.map { $0.metadata.ptsNs })
      write("retained \(kept.count), \(sequences.count) different, quota \(error.quota)")
      kept = []
    }
  }

  /// Traces what the host passes on, with the type of each value.
  private func traceSetup(_ setupInfo: SetupInfo) {
    let values = setupInfo.values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    write("setup “\(setupInfo.title ?? "none")” \(values.joined(separator: " "))")
    guard let key = settings["secret"] else { return }
    do throws(CredentialError) {
      write("secret \(try setupInfo.secret(key).byteCount)")
    } catch { write("secret \(error)") }
  }

  private func open(_ name: String, _ setupInfo: SetupInfo) throws(BroadcastFailure) {
    do {
      let parts = name.split(separator: "/").map(String.init)
      let credential = try CredentialName(service: parts[0], account: parts[1])
      guard let store = setupInfo.credentials else { return write("credentials none") }
      write("credential \(try store.get(credential).byteCount)")
    } catch {
      write("credential \(error)")
    }
  }

  private func write(_ line: String) {
    lastLine = line
    try? trace?.write(contentsOf: Data((line + "\n").utf8))
  }
}
