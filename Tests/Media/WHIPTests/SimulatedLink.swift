@testable import WHIP

/// A sender under control and a link to its receiver, in simulated time: the same result each time.
struct SimulatedLink {
  private static let packetBytes = 1200
  private static let stepNs: UInt64 = 1_000_000
  private static let frameNs: UInt64 = 33_000_000
  private static let reportNs: UInt64 = 100_000_000
  private static let requestNs: UInt64 = 50_000_000

  var control: BitrateControl
  /// What the link carries.
  var bitsPerSecond = 100e6
  /// What another sender, which does not give way, uses of it.
  var otherBitsPerSecond = 0.0
  /// What is lost at random, 0…1.
  var lostShare = 0.0
  var delayNs: UInt64 = 20_000_000
  /// What is added to the delay of each packet, at most; none overtakes another.
  var jitterNs: UInt64 = 0
  /// The longest wait in the queue.
  var longestWaitNs: UInt64 = 250_000_000
  /// By how much the receiver's clock is faster, as a share.
  var clockDrift = 0.0
  /// Whether packets arrive in groups, one each 20 ms.
  var isGrouped = false
  let reportsArrivals: Bool

  private var nowNs: UInt64 = 1_000_000_000
  private var freeNs: UInt64 = 0
  private var newestArrivalNs: UInt64 = 0
  private var frame = 0
  private var unsentBytes = 0
  private var otherUnsentBytes = 0.0
  private var dueNs: UInt64 = 0
  private var random: UInt64
  /// Reports on their way back, with the time at which they are read.
  private var onWay: [(atNs: UInt64, report: WebRTCReport)] = []
  private var report = WebRTCReport()
  private var requested = 0
  private var requestDelayNs: UInt64?
  private var sentBytes = 0
  private var waitsNs: [UInt64] = []
  private var overflowBytes = 0
  /// What is yet to be sent again, and since when.
  private var missingBytes = 0
  private var missingSinceNs: UInt64?
  private var longestOutageNs: UInt64 = 0
  private var restarts = 0

  /// What one run has shown.
  struct Figures {
    /// What arrived or was lost, in bits a second.
    var bitsPerSecond = 0.0
    var longestWaitNs: UInt64 = 0
    /// The wait that all but a twentieth of the packets had at most.
    var p95WaitNs: UInt64 = 0
    /// When the encoder's bitrate first had the asked for share of the maximum; nil: it never had.
    var recoveredAfter: Double?
    /// What the full queue lost, in bytes.
    var overflowBytes = 0
    /// The time from the first of these losses until the pictures were complete again: the time
    /// that it takes to send again what was lost, or until they began anew.
    var outageNs: UInt64 = 0
  }

  init(
    maximum: Int = 4_000_000, minimum: Int = 150_000, reportsArrivals: Bool = true,
    seed: UInt64 = 1
  ) {
    control = BitrateControl(minimum: minimum, maximum: maximum)
    self.reportsArrivals = reportsArrivals
    random = seed
  }

  mutating func run(seconds: Double, until share: Double = 0.9) -> Figures {
    (sentBytes, overflowBytes, longestOutageNs) = (0, 0, 0)
    waitsNs = []
    var figures = Figures()
    for step in 0..<Int(seconds * 1000) {
      nowNs += Self.stepNs
      sendOther()
      if nowNs % Self.frameNs < Self.stepNs { encode() }
      while unsentBytes > 0, control.pace == nil || dueNs <= nowNs { send() }
      if nowNs % Self.requestNs == 0, !reportsArrivals { request() }
      if nowNs % (reportsArrivals ? Self.reportNs / 2 : Self.reportNs * 10) == 0 { answer() }
      if nowNs % Self.reportNs == 0 { read() }
      if figures.recoveredAfter == nil,
        Double(control.mediaBitsPerSecond) >= share * Double(control.maximum)
      {
        figures.recoveredAfter = Double(step) / 1000
      }
    }
    waitsNs.sort()
    figures.bitsPerSecond = Double(sentBytes * 8) / seconds
    figures.overflowBytes = overflowBytes
    figures.outageNs = max(longestOutageNs, missingSinceNs.map { nowNs - $0 } ?? 0)
    figures.longestWaitNs = waitsNs.last ?? 0
    figures.p95WaitNs = waitsNs.isEmpty ? 0 : waitsNs[waitsNs.count * 95 / 100]
    return figures
  }

  /// Pictures differ in size, and each hundredth is a key frame.
  private mutating func encode() {
    if control.pausedUntilNs > nowNs { return }
    if control.restarts > restarts {
      restarts = control.restarts
      (unsentBytes, missingBytes, frame) = (0, 0, 99)
      endOutage()
    }
    frame += 1
    let usual = Double(control.mediaBitsPerSecond) / 8 * Double(Self.frameNs) / 1e9
    let share = frame % 100 == 0 ? 4.0 : [0.7, 1.2, 0.9, 1.1, 1.0][frame % 5]
    // The pictures after a key frame are smaller.
    unsentBytes += Int(usual * (frame % 100 < 10 ? share * 0.7 : share))
  }

  /// The other sender's packets wait in the same queue, and are lost as others are.
  private mutating func sendOther() {
    otherUnsentBytes += otherBitsPerSecond / 8 * Double(Self.stepNs) / 1e9
    while otherUnsentBytes >= Double(Self.packetBytes) {
      otherUnsentBytes -= Double(Self.packetBytes)
      if waitNs < longestWaitNs { occupy(for: Self.packetBytes) }
    }
  }

  /// What a packet that is sent now waits in the queue.
  private var waitNs: UInt64 { freeNs > nowNs ? freeNs - nowNs : 0 }

  private mutating func occupy(for byteCount: Int) {
    freeNs = max(freeNs, nowNs) + UInt64(Double(byteCount * 8) / bitsPerSecond * 1e9)
  }

  private mutating func endOutage() {
    guard let missingSinceNs else { return }
    longestOutageNs = max(longestOutageNs, nowNs - missingSinceNs)
    self.missingSinceNs = nil
  }

  /// 0…1, by xorshift.
  private mutating func chance() -> Double {
    random ^= random << 13
    random ^= random >> 7
    random ^= random << 17
    return Double(random >> 11) / Double(1 << 53)
  }

  private mutating func send() {
    let bytes = min(unsentBytes, Self.packetBytes)
    unsentBytes -= bytes
    if let pace = control.pace {
      dueNs = max(dueNs, nowNs) + UInt64(Double(bytes * 8) / Double(pace) * 1e9)
    }
    sentBytes += bytes
    report.packetsExpected += 1
    let waitNs = waitNs
    waitsNs.append(waitNs)
    let isOverflow = waitNs >= longestWaitNs
    let isLost = chance() < lostShare || isOverflow
    if isOverflow {
      overflowBytes += bytes
      missingBytes += bytes
      missingSinceNs = missingSinceNs ?? nowNs
    } else if missingBytes > 0 {
      // At best, half of what is sent repeats what was lost.
      missingBytes = max(0, missingBytes - bytes / 2)
      if missingBytes == 0 { endOutage() }
    }
    if isLost {
      report.packetsLost += 1
      requested += 1
      requestDelayNs = min(requestDelayNs ?? .max, 2 * delayNs + waitNs)
    } else {
      occupy(for: bytes)
    }
    guard reportsArrivals else { return }
    report.arrivals.append(
      PacketArrival(
        sentNs: nowNs, arrivedNs: isLost ? nil : arrival(), byteCount: bytes))
  }

  private mutating func arrival() -> UInt64 {
    var atNs = freeNs + delayNs + UInt64(chance() * Double(jitterNs))
    if isGrouped { atNs = (atNs / 20_000_000 + 1) * 20_000_000 }
    newestArrivalNs = max(newestArrivalNs, atNs)
    return UInt64(Double(newestArrivalNs) * (1 + clockDrift)) / 250_000 * 250_000
  }

  /// A receiver requests what it lacks at once.
  private mutating func request() {
    guard requested > 0 else { return }
    var report = WebRTCReport()
    report.packetsRequested = requested
    report.requestDelayNs = requestDelayNs
    (requested, requestDelayNs) = (0, nil)
    onWay.append((nowNs + delayNs, report))
  }

  private mutating func answer() {
    report.roundTripNs = 2 * delayNs + waitNs
    onWay.append((nowNs + delayNs + waitNs, report))
    report = WebRTCReport()
  }

  private mutating func read() {
    var due = WebRTCReport()
    var isAny = false
    while let first = onWay.first, first.atNs <= nowNs {
      isAny = true
      due.packetsExpected += first.report.packetsExpected
      due.packetsLost += first.report.packetsLost
      due.packetsRequested += first.report.packetsRequested
      due.requestDelayNs = first.report.requestDelayNs ?? due.requestDelayNs
      due.arrivals += first.report.arrivals
      due.roundTripNs = first.report.roundTripNs ?? due.roundTripNs
      onWay.removeFirst()
    }
    if isAny { _ = control.adapt(to: due, nowNs: nowNs) }
  }
}
