import Broadcast
import CredentialStore
import FrameBus
import Platform
import SharedDefaults
import SharedLog
import Upload

/// The uploader as the extension of a broadcast: it sends pictures and sound to the destination as
/// they arrive.
///
/// It refuses to wait for a full destination: the picture is dropped, and the next call brings a
/// newer one.
final class BroadcastUpload: BroadcastSampleHandler, IdleHandler {
  /// How often to poll a full destination for room for a still picture.
  private static let roomInterval = Duration.milliseconds(50)
  /// How often to report the figures of the destinations.
  private static let figuresInterval = Duration.seconds(2)

  typealias Make = (SetupInfo, BroadcastConnection) throws -> any Destination

  private let make: Make
  private let signIn: String
  /// The settings that no option overrides.
  private let follows: [FollowedSetting]
  private var settings: FollowedSettings?
  private var setup: SetupInfo?
  private var pump: UploadPump?
  private var dropCount: UInt64 = 0
  private var nextRoomPoll = Deadline.now
  private var nextFigures = Deadline.now
  private var takesSound = false

  /// - Parameters:
  ///   - follows: the settings to follow.
  ///   - signIn: what the user can do if the server refuses the token.
  ///   - make: makes the destination, with the setup that the host hands over. A destination that
  ///     connects reports its state to the connection.
  init(follows: [FollowedSetting], signIn: String, to make: @escaping Make) {
    self.follows = follows
    self.signIn = signIn
    self.make = make
  }

  override func broadcastStarted(setupInfo: SetupInfo) throws(BroadcastFailure) {
    let destination: any Destination
    do {
      settings = try FollowedSettings(follows, in: setupInfo.settings) { [connection] in
        connection.wakeHandler()
      }
      settings?.onMove = { [connection] in connection.connecting() }
      destination = try make(setupInfo, connection)
    } catch {
      throw BroadcastFailure(domain: Self.domain, code: 2, reason: "\(error)")
    }
    if destination.connects { connection.connecting() }
    setup = setupInfo
    pump = UploadPump(to: destination, expectsPictures: setupInfo.samples.contains(.video))
    try setupInfo.openCredentials()
    takesSound = destination.takesSound && setupInfo.samples.contains { $0 != .video }
    follow()
    try attempt { (pump) throws(DestinationError) in
      try pump.prepare(expectingSound: takesSound)
    }
    setupInfo.log.append(.notice, "uploads to \(destination.output)", label: Self.label)
  }

  override func broadcastPaused(for reasons: [BroadcastPause]) throws(BroadcastFailure) {
    pump?.release()
  }

  override func processSampleBuffer(
    _ sample: borrowing SampleBuffer, type: SampleBufferType
  ) throws(BroadcastFailure) {
    let frame = sample.lease
    if type == .video { dropCount += sample.droppedBefore } else { takeSound(frame, of: type) }
    try attempt { (pump) throws(DestinationError) in
      if type == .video {
        if try !pump.offer(frame) { dropCount += 1 }
      }
      try keepUp(&pump)
    }
  }

  private func takeSound(_ frame: HeldFrame, of type: SampleBufferType) {
    guard takesSound, let refusal = pump?.take(frame, of: type == .audioMic ? 1 : 0) else { return }
    setup?.log.append(.warning, "\(type.rawValue) is left out: \(refusal)", label: Self.label)
  }

  var worksAt: Deadline {
    if settings?.hasChanged == true { return .now }
    let early = pump?.earlyAtNs.map { Deadline(monotonicNs: $0) } ?? .never
    let still = pump?.repeatsAtNs.map { max(Deadline(monotonicNs: $0), nextRoomPoll) } ?? .never
    return min(early, still, pump == nil ? .never : nextFigures)
  }

  func workWhileIdle() throws(BroadcastFailure) {
    if settings?.hasChanged == true { follow() }
    try attempt { (pump) throws(DestinationError) in
      if try !pump.sendEarly() { dropCount += 1 }
      try keepUp(&pump)
    }
  }

  /// Sends sound, and repeats a still picture, since sound is sent at most a second ahead of
  /// pictures.
  private func keepUp(_ pump: inout UploadPump) throws(DestinationError) {
    if nextFigures.isPast {
      nextFigures = .after(Self.figuresInterval)
      connection.report(pump.destinations())
    }
    try pump.sendSound()
    if try !pump.repeatIfStill() { nextRoomPoll = .after(Self.roomInterval) }
  }

  override func broadcastFinished() {
    guard var pump = pump.take() else { return }
    pump.release()
    let figures = pump.summary(drops: dropCount)
    setup?.log.append(.notice, UploadProgress.ended, label: Self.label, metadata: figures.logged)
    // For example, if drawing a huge picture takes seconds and the broadcast is stopped meanwhile.
    if pump.frames == 0, pump.expectsPictures {
      setup?.log.append(
        .warning, "no picture arrived before the end: \(pump.destination.output) has no picture",
        label: Self.label)
    }
    do throws(DestinationError) { try pump.finish() } catch {
      finishBroadcast(withError: failure(error))
    }
    connection.report(pump.destinations())
  }

  // MARK: Settings

  private func follow() {
    guard var pump = pump.take() else { return }
    defer { self.pump = pump }
    settings?.apply(to: &pump) { setting, change in
      switch change {
      case .success(let text):
        setup?.log.append(.notice, text, label: Self.label)
        connection.refused(setting.rawValue, nil)
      case .failure(let error):
        setup?.log.append(.warning, "\(error); the previous value stays", label: Self.label)
        connection.refused(setting.rawValue, "\(error)")
      }
    }
  }

  // MARK: Failures

  /// Runs `body`. An error of the destination ends the broadcast.
  private func attempt(
    _ body: (inout UploadPump) throws(DestinationError) -> Void
  ) throws(BroadcastFailure) {
    guard var pump = pump.take() else { return }
    defer { self.pump = pump }
    do { try body(&pump) } catch {
      pump.destination.abandon()
      throw failure(error)
    }
  }

  private static let domain = "framebus.upload"
  private static let label = "upload"

  /// A server's refusal keeps its HTTP status as the code.
  private func failure(_ error: DestinationError) -> BroadcastFailure {
    if case .peer(let reason, _, let status?) = error {
      return BroadcastFailure(
        domain: "WHIP", code: status, reason: reason,
        recovery: [401, 403].contains(status) ? signIn : "")
    }
    return BroadcastFailure(
      domain: Self.domain, code: error.isMisuse ? 2 : 1, reason: "\(error)")
  }
}

extension SetupInfo {
  /// Opens the credentials that were handed over, so that one that has expired, for example, ends
  /// the broadcast before its first picture.
  fileprivate func openCredentials() throws(BroadcastFailure) {
    guard let credentials else { return }
    do throws(CredentialError) {
      for lease in try credentials.list()
      where lease.accessibility == .session && lease.name.service != Self.carrierService {
        _ = try credentials.get(lease.name)
        log.append(.notice, "opened the credential \(lease.name)", label: "upload")
      }
    } catch {
      throw BroadcastFailure(
        domain: "framebus.upload", code: 2, reason: "\(error)",
        recovery: "framebus credential list")
    }
  }
}
