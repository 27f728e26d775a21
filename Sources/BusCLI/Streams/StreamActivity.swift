import FrameBus

/// Activity of a stream and its subscribers between two polls.
struct StreamActivity {
  let report: StreamReport
  let framesPerSecond: Double
  let bytesPerSecond: Double
  let subscribers: [SubscriberActivity]

  /// - Parameter earlier: the previous poll; nil if the stream did not exist or did not answer.
  init(_ report: StreamReport, since earlier: StreamReport?, seconds: Double) {
    self.report = report
    guard case .answered(let now) = report else {
      (framesPerSecond, bytesPerSecond, subscribers) = (0, 0, [])
      return
    }
    var before: StreamStatus?
    // A restarted publisher counts from zero.
    if case .answered(let status) = earlier, status.generation == now.generation { before = status }
    framesPerSecond = rate(now.cursor, before?.cursor, seconds)
    bytesPerSecond = rate(now.publishedBytes, before?.publishedBytes, seconds)
    subscribers = now.subscribers.map { subscriber in
      SubscriberActivity(
        subscriber, since: before?.subscribers.first { $0.isEarlierState(of: subscriber) },
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
  /// Whether this is an earlier state of the same subscriber, not of another in the same seat.
  fileprivate func isEarlierState(of later: SubscriberStatus) -> Bool {
    id == later.id && pid == later.pid && received <= later.received
      && zip(drops, later.drops).allSatisfy { $0 <= $1 }
  }
}

/// Increase per second; 0 without an earlier poll, whose count is unknown.
private func rate(_ now: UInt64, _ earlier: UInt64?, _ seconds: Double) -> Double {
  guard let earlier, earlier <= now, seconds > 0 else { return 0 }
  return Double(now - earlier) / seconds
}
