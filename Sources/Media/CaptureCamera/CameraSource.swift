import Capture
import FrameBus
import Platform

/// Publishes the pictures of a camera. Without subscribers the device is closed, so that its light
/// is off and other programs can use it.
public struct CameraSource: FrameSource {
  private let name: String?
  private let settings: CaptureSettings
  private let endsWhenLost: Bool
  private var clock = CameraClock()
  private var selection = FrameSelection()
  private var kept: KeptPicture?

  /// - Parameters:
  ///   - name: a path, or a name as `framebus cameras` lists it; nil for the first camera.
  ///   - settings: size, rate, format and controls; what is nil is chosen.
  ///   - endsWhenLost: whether a camera that comes back cannot be reached, as in a sandbox, so that
  ///     the capture must be started again.
  public init(_ name: String?, _ settings: CaptureSettings, endsWhenLost: Bool = false) {
    self.name = name
    self.settings = settings
    self.endsWhenLost = endsWhenLost
  }

  public mutating func run(in session: CaptureSession) throws(CameraError) {
    let (found, format, bufferBytes) = try probe()
    var options = PublisherOptions()
    options.slotBytes = (max(bufferBytes, format.byteCount) + 4095) / 4096 * 4096
    options.streamChanged = session.streamChanged
    options.maxLoans = CameraBuffers.maximumCount + 1
    let publisher: Publisher
    do {
      publisher = try Publisher(
        session.stream, in: session.group, format: format, options: options)
    } catch { throw .publishing(.publisher(error)) }
    try session.drive(publisher) { (publisher) throws(CameraError) in
      while session.waitForSubscriber(of: publisher) {
        do throws(CameraError) {
          try capture(found, with: &publisher, in: session)
        } catch {
          guard error.isTemporary, !endsWhenLost else { throw error }
          guard try wait(for: found, after: error, &publisher, session) else { return }
        }
      }
    }
  }

  /// Looks at the camera, and closes it again.
  /// - Returns: what to call it by from then on: one that comes back may have another number.
  private func probe() throws(CameraError) -> (name: String, FrameFormat, bufferBytes: Int) {
    let stream = try CameraStream(CameraSearch.path(of: name), settings)
    return (name ?? stream.device.name, stream.format, stream.bufferBytes)
  }

  /// How long the device stays open without subscribers.
  private static let idleLimit = Duration.seconds(1)
  /// A camera that is silent for longer is taken for one that is gone.
  private static let silenceLimit = Duration.seconds(10)

  /// Captures until the run is over, nobody subscribes any more, or the camera is lost.
  private mutating func capture(
    _ name: String, with publisher: inout Publisher, in session: CaptureSession
  ) throws(CameraError) {
    let stream = try CameraStream(CameraSearch.path(of: name), settings)
    do { try publisher.setFormat(stream.format) } catch { throw .publishing(.publisher(error)) }
    publisher.resume()
    let buffers = try CameraBuffers(stream, &publisher)
    defer { buffers.end() }
    clock = CameraClock(after: clock)
    if !buffers.isZeroCopy {
      session.noticed?(
        "the driver “\(stream.device.driver.plain)” cannot write into slots: each frame is copied"
          + " once")
    }
    kept = nil
    do throws(CameraError) {
      try publishAll(of: stream, buffers, with: &publisher, in: session)
    } catch {
      // The last state before a pause reaches the subscribers.
      try? publishKept(of: buffers, with: &publisher, in: session, isLast: true)
      throw error
    }
    try publishKept(of: buffers, with: &publisher, in: session, isLast: true)
  }

  private mutating func publishAll(
    of stream: borrowing CameraStream, _ buffers: CameraBuffers, with publisher: inout Publisher,
    in session: CaptureSession
  ) throws(CameraError) {
    var idleAt = Deadline.never
    var silentAt = Deadline.after(Self.silenceLimit)
    while !session.isOver, !idleAt.isPast {
      let ready: Int?
      do {
        ready = try firstReadable(
          session.stop.descriptorNumber, stream.descriptorNumber,
          until: min(session.deadline, idleAt, silentAt, keptDeadline(publisher.demand)))
      } catch { throw .refused(error) }
      if silentAt.isPast { throw .lost(path: stream.device.path) }
      session.noteSubscribers(publisher.subscriberCount)
      if publisher.subscriberCount > 0 {
        idleAt = .never
      } else if idleAt == .never {
        idleAt = .after(Self.idleLimit)
      }
      if ready == 1, let picture = try buffers.next() {
        silentAt = .after(Self.silenceLimit)
        let missingCount = clock.missingCount(before: picture.sequence)
        guard publisher.subscriberCount > 0, picture.isWhole else {
          if publisher.subscriberCount > 0 { session.countMissedDeadlines(missingCount + 1) }
          try buffers.putBack(picture)
          continue
        }
        session.countMissedDeadlines(missingCount)
        if let former = kept { try buffers.putBack(former.picture) }
        let nowNs = monotonicNowNs()
        let times = clock.times(of: picture.time, nowNs: nowNs)
        kept = KeptPicture(
          picture: picture, ptsNs: times.ptsNs, capturedAtNs: times.capturedAtNs,
          arrivedAtNs: nowNs)
      }
      try publishKept(of: buffers, with: &publisher, in: session)
    }
  }

  /// A picture that subscribers do not need if another one follows in time.
  private struct KeptPicture {
    let picture: CameraBuffers.Picture
    let ptsNs: Int64
    let capturedAtNs: UInt64
    let arrivedAtNs: UInt64
  }

  /// How soon a kept picture follows a higher demand: 100 ms.
  private static let demandIntervalNs: UInt64 = 100_000_000

  private func keptDeadline(_ demand: Demand?) -> Deadline {
    guard let kept else { return .never }
    let neededAtNs = kept.arrivedAtNs + selection.waitNs(of: kept.ptsNs, demand)
    return min(Deadline(monotonicNs: neededAtNs), .afterNs(Self.demandIntervalNs))
  }

  /// Publishes the kept picture if subscribers need it at the rate of their demand, as no other one
  /// has come since.
  private mutating func publishKept(
    of buffers: CameraBuffers, with publisher: inout Publisher, in session: CaptureSession,
    isLast: Bool = false
  ) throws(CameraError) {
    guard let frame = kept else { return }
    let waitedNs = Int64(clamping: monotonicNowNs() - frame.arrivedAtNs)
    let nextNs = isLast ? nil : frame.ptsNs &+ waitedNs
    guard selection.needs(frame.ptsNs, before: nextNs, publisher.demand) else { return }
    kept = nil
    var loan = try buffers.takeLoan(of: frame.picture, &publisher, isLast: isLast)
    loan.metadata.ptsNs = frame.ptsNs
    loan.metadata.capturedAtNs = frame.capturedAtNs
    loan.metadata.orientation = settings.orientation ?? .up
    _ = loan.publish()
    session.countFrame(isCopy: !buffers.isZeroCopy)
  }

  private static let retryInterval = Duration.milliseconds(500)

  /// Pauses the stream until the camera is back.
  /// - Returns: false if the run is over.
  private func wait(
    for name: String, after error: CameraError, _ publisher: inout Publisher,
    _ session: CaptureSession
  ) throws(CameraError) -> Bool {
    publisher.pause(.unavailable)
    session.noticed?("the stream is paused until the camera is back: \(error)")
    while session.sleep(until: .after(Self.retryInterval)) {
      do throws(CameraError) {
        _ = try CameraStream(CameraSearch.path(of: name), settings)
        session.noticed?("the camera is back")
        return true
      } catch {
        guard error.isTemporary else { throw error }
      }
    }
    return false
  }
}
