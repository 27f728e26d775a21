import FrameBus

/// What a stream and its subscribers did between two looks.
struct StreamActivity {
  let report: StreamReport
  let framesPerSecond: Double
  let bytesPerSecond: Double
  let subscribers: [SubscriberActivity]

  /// - Parameter earlier: the look before; nil if the stream was not there, or did not answer.
  init(_ report: StreamReport, since earlier: StreamReport?, seconds: Double) {
    self.report = report
    guard case .answered(let now) = report else {
      (framesPerSecond, bytesPerSecond, subscribers) = (0, 0, [])
      return
    }
    var before: StreamStatus?
    // A restarted publisher counts from the start.
    if case .answered(let status) = earlier, status.generation == now.generation { before = status }
    framesPerSecond = rate(now.cursor, before?.cursor, seconds)
    bytesPerSecond = rate(now.publishedBytes, before?.publishedBytes, seconds)
    subscribers = now.subscribers.map { subscriber in
      SubscriberActivity(
        subscriber, since: before?.subscribers.first { $0.isEarlierLook(at: subscriber) },
        seconds: seconds)
    }
  }
}

struct SubscriberActivity {
  let status: SubscriberStatus
  let framesPerSecond: Double
  /// In the order of the drop reasons.
  let drops: [UInt64]
  let latencies: LatencyCounts

  init(_ status: SubscriberStatus, since earlier: SubscriberStatus?, seconds: Double) {
    self.status = status
    framesPerSecond = rate(status.received, earlier?.received ?? 0, seconds)
    drops = zip(status.drops, earlier?.drops ?? status.drops.map { _ in 0 }).map { $0 &- $1 }
    latencies = status.latencies.since(earlier?.latencies ?? LatencyCounts())
  }
}

extension SubscriberStatus {
  /// Whether this is the same subscriber some time before, and not another that had its place.
  fileprivate func isEarlierLook(at later: SubscriberStatus) -> Bool {
    id == later.id && pid == later.pid && received <= later.received
      && zip(drops, later.drops).allSatisfy { $0 <= $1 }
  }
}

/// What came a second; nothing of what was there before the first look.
private func rate(_ now: UInt64, _ earlier: UInt64?, _ seconds: Double) -> Double {
  guard let earlier, earlier <= now, seconds > 0 else { return 0 }
  return Double(now - earlier) / seconds
}
