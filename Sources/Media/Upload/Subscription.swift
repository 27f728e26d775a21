import AppGroup
import FrameBus
import Platform

/// Subscribes to one stream, by the first policy that its publisher grants.
struct Subscription: Sendable {
  let stream: StreamName
  let group: AppGroup
  let policies: [DeliveryPolicy]
  let demand: Demand
  let report: @Sendable (UploadReport) -> Void

  func subscribe(
    holds: Int, until deadline: Deadline?, stop: StopSignal
  ) throws(SubscriberError) -> UploadRunner.Attachment {
    for policy in policies.dropLast() {
      do throws(SubscriberError) {
        return try subscribe(policy, holds: holds, until: deadline, stop: stop)
      } catch {
        guard case .refused(_, .losslessNotOffered) = error else { throw error }
      }
    }
    let last = policies[policies.count - 1]
    do throws(SubscriberError) {
      return try subscribe(last, holds: holds, until: deadline, stop: stop)
    } catch {
      guard case .refused(_, .ringTooShallow(let ringDepth)) = error, case .keepLatest = last,
        policies.count > 1
      else { throw error }
      return try subscribe(.keepLatest(ringDepth), holds: holds, until: deadline, stop: stop)
    }
  }

  private func subscribe(
    _ policy: DeliveryPolicy, holds: Int, until deadline: Deadline?, stop: StopSignal
  ) throws(SubscriberError) -> UploadRunner.Attachment {
    var options = SubscriberOptions()
    options.policy = policy.subscriberPolicy
    options.demand = demand
    // A lossless subscriber starts at the beginning; others start at the current frame.
    options.start = policy.isLossless ? .oldest : .newest
    let askedNs = monotonicNowNs()
    options.holds = holds
    let (report, stream) = (report, stream)
    options.onEvent = { event in
      switch event {
      case .publisherGone: report(.publisherGone)
      case .publisherBack: report(.publisherBack)
      case .losslessEnded: report(.losslessEnded)
      case .paused(let reason): report(.paused(stream, reason))
      case .resumed: report(.resumed(stream))
      case .annotated(let application): report(.annotated(stream, application))
      // Needs no action by the user: frames resume without one.
      case .evicted: break
      }
    }
    let subscriber = try Subscriber(
      stream, in: group, options: options, waitingForPublisherUntil: deadline, stop: stop)
    report(.attached(stream, policy))
    return UploadRunner.Attachment(
      subscriber: subscriber, policy: policy,
      start: policy.isLossless ? nil : FreshStart(askedNs: askedNs, demand))
  }
}
