import FrameBus
import Platform

extension UploadRunner {
  /// A subscription, and what it was granted.
  struct Attachment: ~Copyable {
    var subscriber: Subscriber
    let isLossless: Bool
  }

  /// Subscribes, and waits for the stream if it does not exist yet.
  /// - Returns: nil when the signal was raised first.
  func attach(holds: Int) throws(UploadError) -> Attachment? {
    var deadline: Deadline?
    while true {
      do throws(SubscriberError) {
        return try subscribe(holds: holds, until: deadline)
      } catch {
        switch error {
        case .stopped: return nil
        case .noSuchStream where plan.waitsForStream && deadline == nil:
          report(.waitingForStream(plan.stream))
          deadline = .never
        default: throw .cannotSubscribe(error)
        }
      }
    }
  }

  /// Without a policy of the user's: every frame if the publisher waits for its subscribers, as a
  /// file's does; else the newest, as of a screen.
  private func subscribe(
    holds: Int, until deadline: Deadline?
  ) throws(SubscriberError) -> Attachment {
    if let policy = plan.policy { return try subscribe(policy, holds: holds, until: deadline) }
    do throws(SubscriberError) {
      let all = DeliveryPolicy.lossless(deadlineSeconds: DeliveryPolicy.defaultLosslessSeconds)
      return try subscribe(all, holds: holds, until: deadline)
    } catch {
      guard case .refused(_, .losslessNotOffered) = error else { throw error }
      return try subscribe(.latest, holds: holds, until: deadline)
    }
  }

  private func subscribe(
    _ policy: DeliveryPolicy, holds: Int, until deadline: Deadline?
  ) throws(SubscriberError) -> Attachment {
    var options = SubscriberOptions()
    options.policy = policy.subscriberPolicy
    // A lossless reader wants the beginning; the others begin with what is on the screen now.
    options.start = policy.isLossless ? .oldest : .newest
    options.holds = holds
    let report = report
    options.onEvent = { event in
      switch event {
      case .publisherGone: report(.publisherGone)
      case .publisherBack: report(.publisherBack)
      case .losslessEnded: report(.losslessEnded)
      // Nothing that a person would act on: frames come again by themselves.
      case .evicted, .paused, .resumed: break
      }
    }
    let subscriber = try Subscriber(
      plan.stream, in: group, options: options, waitingForPublisherUntil: deadline, stop: stop)
    report(.attached(plan.stream, policy))
    return Attachment(subscriber: subscriber, isLossless: policy.isLossless)
  }
}
