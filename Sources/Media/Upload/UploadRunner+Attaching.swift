import FrameBus
import Platform

extension UploadRunner {
  /// A subscription, and the policy that it was granted.
  struct Attachment: ~Copyable, Sendable {
    var subscriber: Subscriber
    let policy: DeliveryPolicy
    /// Nil for a lossless subscription.
    let start: FreshStart?
  }

  /// The number of sound frames that may wait in the ring: half a second at 10 ms each. Fewer if
  /// the publisher's ring is shallower.
  private static let liveSound = DeliveryPolicy.keepLatest(50)

  /// Subscribes, and waits for the stream if it does not exist yet.
  /// - Returns: nil if the signal was raised first.
  func attach(_ stream: StreamName, holds: Int) throws(UploadError) -> Attachment? {
    var deadline = plan.streamWithin.map { Deadline.after($0) }
    while true {
      do throws(SubscriberError) {
        return try subscription(of: stream, live: .latest).subscribe(
          holds: holds, until: deadline, stop: stop)
      } catch {
        switch error {
        case .stopped: return nil
        case .noSuchStream where deadline == nil:
          report(.waitingForStream(stream))
          deadline = .never
        default: throw .cannotSubscribe(error)
        }
      }
    }
  }

  /// Subscribes to a stream of sound if it exists; otherwise searches for it during the upload.
  func attachOrSearch(_ index: Int, _ set: inout SubscriberSet) throws(UploadError) {
    let stream = inputs[index].stream
    let subscription = subscription(of: stream, live: Self.liveSound)
    let attachment: Attachment
    do throws(SubscriberError) {
      attachment = try subscription.subscribe(holds: 1, until: nil, stop: stop)
    } catch {
      guard case .noSuchStream = error else { throw .cannotSubscribe(error) }
      return try search(index, by: subscription)
    }
    take(attachment, as: index, &set)
  }

  private func search(_ index: Int, by subscription: Subscription) throws(UploadError) {
    report(.waitingForStream(inputs[index].stream))
    do throws(SystemError) {
      inputs[index].search = try StreamSearch(subscription)
    } catch {
      throw .cannotWait(error)
    }
  }

  func take(
    _ attachment: consuming Attachment, as index: Int, _ set: inout SubscriberSet
  ) {
    inputs[index].policy = attachment.policy
    inputs[index].start = attachment.start
    if index > 0, attachment.policy.isLossless { expectSound(index) }
    do throws(SubscriberSet.AddError) {
      inputs[index].member = try set.add(attachment.subscriber)
    } catch {
      preconditionFailure("\(plan.streams.count) streams in one upload: \(error)")
    }
  }

  /// Adds the streams that were found since the last call.
  func admitFound(_ set: inout SubscriberSet) throws(UploadError) {
    for index in inputs.indices {
      guard let search = inputs[index].search, let outcome = search.take() else { continue }
      inputs[index].search = nil
      switch consume outcome {
      case .found(let attachment): take(attachment, as: index, &set)
      case .failed(let error): throw .cannotSubscribe(error)
      }
    }
  }

  /// A file's sound is published before its pictures, and starts with the first subscriber to the
  /// pictures: so streams that exist now are attached now, not when the search finds them.
  func attachSoundBesidePictures(_ set: inout SubscriberSet) throws(UploadError) {
    try admitFound(&set)
    for index in inputs.indices where inputs[index].search != nil {
      let subscription = subscription(of: inputs[index].stream, live: Self.liveSound)
      do throws(SubscriberError) {
        let attachment = try subscription.subscribe(holds: 1, until: nil, stop: stop)
        inputs[index].search?.end()
        inputs[index].search = nil
        take(attachment, as: index, &set)
      } catch {
        guard case .noSuchStream = error else { throw .cannotSubscribe(error) }
      }
    }
  }

  /// Replaces a subscription by one with another policy.
  func attachAnew(_ index: Int, _ set: inout SubscriberSet) throws(UploadError) {
    inputs[index].leave(&set)
    pump.track.end(index)
    if index > 0 || inputs[index].kind == .sound { return try attachOrSearch(index, &set) }
    guard let next = try attach(inputs[index].stream, holds: destination.heldFrames + 1) else {
      end = .stopped
      return
    }
    take(next, as: index, &set)
  }

  func endSearches() {
    for input in inputs { input.search?.end() }
  }

  /// Without a policy chosen by the user: every frame if the publisher is lossless, as a file is;
  /// otherwise the policy for live streams, such as a screen or a microphone.
  private func subscription(of stream: StreamName, live: DeliveryPolicy) -> Subscription {
    let lossless = DeliveryPolicy.lossless(deadlineSeconds: DeliveryPolicy.defaultLosslessSeconds)
    return Subscription(
      stream: stream, group: group, policies: plan.policy.map { [$0] } ?? [lossless, live],
      demand: destination.pictureDemand, report: report)
  }
}
