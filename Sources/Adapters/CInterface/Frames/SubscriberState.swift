import CFrameBus
import FrameBus
import Platform

@c @implementation
public func framebus_subscriber_get_status(
  _ subscriber: OpaquePointer!, _ status: UnsafeMutablePointer<framebus_subscriber_status>!,
  _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  // SAFETY: as of all pointers of C (CStructures.swift).
  unsafe attempt(error) { () throws(CFailure) in
    let box = try unsafe HandleTable.shared.find(subscriber, SubscriberBox.self)
    try unsafe require(status, "status")
    try unsafe store(box.status, into: status)
    return FRAMEBUS_OK
  }
}

extension SubscriberBox {
  fileprivate var status: framebus_subscriber_status {
    var status = framebus_subscriber_status()
    status.received_count = part.subscriber.receivedCount
    status.dropped_count = part.subscriber.droppedCount
    status.drops = (
      part.subscriber.droppedCount(by: .lapped), part.subscriber.droppedCount(by: .passedOver),
      part.subscriber.droppedCount(by: .awaitingKeyFrame),
      part.subscriber.droppedCount(by: .unreachable),
      part.subscriber.droppedCount(by: .corrupt), part.subscriber.droppedCount(by: .losslessEnded)
    )
    status.lag_frames = part.subscriber.lagFrames
    status.generation = part.subscriber.generation ?? 0
    status.granted_leases = UInt32(part.subscriber.grantedHolds)
    status.held_leases = UInt32(part.leases.heldCount)
    status.pause_reason = part.subscriber.pauseReason?.rawValue ?? UInt32(FRAMEBUS_PAUSE_NONE)
    status.end_reason = part.subscriber.finishReason?.rawValue ?? UInt32(FRAMEBUS_END_NONE)
    status.content = part.subscriber.content?.rawValue ?? UInt32(FRAMEBUS_CONTENT_OTHER)
    status.lossless_ended = events.losslessHasEnded ? 1 : 0
    status.eviction_count = events.evictions
    status.successor_count = events.successors
    // SAFETY: the text is cut to the field.
    unsafe withUnsafeMutableBytes(of: &status.application) {
      unsafe $0.copyText(part.subscriber.application?.text ?? "")
    }
    return status
  }
}

@c @implementation
public func framebus_subscriber_set_demand(
  _ subscriber: OpaquePointer!, _ width: UInt32, _ height: UInt32, _ rate_numerator: UInt32,
  _ rate_denominator: UInt32, _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  // SAFETY: as of all pointers of C (CStructures.swift).
  unsafe attempt(error) { () throws(CFailure) in
    let box = try unsafe HandleTable.shared.find(subscriber, SubscriberBox.self)
    guard (width == 0) == (height == 0), (rate_numerator == 0) == (rate_denominator == 0) else {
      throw .argument(
        "of \(width)×\(height) pixels at \(rate_numerator)/\(rate_denominator) one side or half of "
          + "the rate is 0; pass both numbers, or 0 for both")
    }
    var demand = Demand()
    if width > 0 { demand.box = Demand.Box(width: Int(width), height: Int(height)) }
    if rate_numerator > 0 { demand.rate = FrameRate(Int(rate_numerator), Int(rate_denominator)) }
    box.part.subscriber.demand = demand
    return FRAMEBUS_OK
  }
}

@c @implementation
public func framebus_subscriber_set_utilization(
  _ subscriber: OpaquePointer!, _ utilization: Double,
  _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  // SAFETY: as of all pointers of C (CStructures.swift).
  unsafe attempt(error) { () throws(CFailure) in
    let box = try unsafe HandleTable.shared.find(subscriber, SubscriberBox.self)
    guard (0...1).contains(utilization) else {
      throw .argument("the utilization is \(utilization); use 0 to 1")
    }
    box.part.subscriber.feedback.utilization = utilization
    return FRAMEBUS_OK
  }
}
