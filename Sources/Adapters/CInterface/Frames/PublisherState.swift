import AppGroup
import CFrameBus
import FrameBus
import Platform

@c @implementation
public func framebus_publisher_pause(
  _ publisher: OpaquePointer!, _ reason: UInt32, _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  // SAFETY: as of all pointers of C (CStructures.swift).
  unsafe attempt(error) { () throws(CFailure) in
    let box = try unsafe HandleTable.shared.find(publisher, PublisherBox.self)
    guard let reason = PauseReason(rawValue: reason) else {
      throw .argument("the reason \(reason) is unknown; use FRAMEBUS_PAUSE_REQUESTED or another")
    }
    guard box.publisher != nil else { return FRAMEBUS_FINISHED }
    box.publisher?.pause(reason)
    return FRAMEBUS_OK
  }
}

@c @implementation
public func framebus_publisher_resume(
  _ publisher: OpaquePointer!, _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  // SAFETY: as of all pointers of C (CStructures.swift).
  unsafe attempt(error) { () throws(CFailure) in
    let box = try unsafe HandleTable.shared.find(publisher, PublisherBox.self)
    guard box.publisher != nil else { return FRAMEBUS_FINISHED }
    box.publisher?.resume()
    return FRAMEBUS_OK
  }
}

@c @implementation
public func framebus_publisher_set_application(
  _ publisher: OpaquePointer!, _ application: UnsafePointer<CChar>!,
  _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  // SAFETY: as of all pointers of C (CStructures.swift).
  unsafe attempt(error) { () throws(CFailure) in
    let box = try unsafe HandleTable.shared.find(publisher, PublisherBox.self)
    let name = try unsafe optionalText(application, "application")
    let id = name.flatMap { ApplicationID($0) }
    guard name == nil || id != nil else {
      throw .argument(
        "the application has \(name?.utf8.count ?? 0) bytes; use 1 to "
          + "\(ApplicationID.maximumBytes), without control characters")
    }
    guard box.publisher != nil else { return FRAMEBUS_FINISHED }
    box.publisher?.annotation.application = id
    return FRAMEBUS_OK
  }
}

@c @implementation
public func framebus_publisher_wait(
  _ publisher: OpaquePointer!, _ deadline_ns: UInt64, _ stop: OpaquePointer!,
  _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  // SAFETY: as of all pointers of C (CStructures.swift).
  unsafe attempt(error) { () throws(CFailure) in
    let box = try unsafe HandleTable.shared.find(publisher, PublisherBox.self)
    let stop = try unsafe stopSignal(stop)
    let deadline = Deadline(monotonicNs: deadline_ns)
    guard box.publisher != nil else { return FRAMEBUS_FINISHED }
    if box.publisher?.waitForSubscriber(until: deadline, stop: stop) == true { return FRAMEBUS_OK }
    return stop?.isRaised == true ? FRAMEBUS_STOPPED : FRAMEBUS_TIMED_OUT
  }
}

@c @implementation
public func framebus_publisher_descriptor(_ publisher: OpaquePointer!) -> Int32 {
  // SAFETY: the handle is looked up, not dereferenced.
  attempt { () throws(CFailure) in
    Int(try unsafe HandleTable.shared.find(publisher, PublisherBox.self).subscriberEvents.number)
  }
}

@c @implementation
public func framebus_publisher_get_status(
  _ publisher: OpaquePointer!, _ status: UnsafeMutablePointer<framebus_publisher_status>!,
  _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  // SAFETY: as of all pointers of C (CStructures.swift).
  unsafe attempt(error) { () throws(CFailure) in
    let box = try unsafe HandleTable.shared.find(publisher, PublisherBox.self)
    try unsafe require(status, "status")
    // Before the counts are read, so that no change stays unseen.
    box.subscriberEvents.lower()
    try unsafe store(box.status, into: status)
    return FRAMEBUS_OK
  }
}

extension PublisherBox {
  fileprivate var status: framebus_publisher_status {
    var status = framebus_publisher_status()
    status.published_count = publisher?.publishedCount ?? finalCounts.published
    status.join_count = publisher?.joinCount ?? finalCounts.joins
    status.subscriber_count = UInt32(publisher?.subscriberCount ?? 0)
    status.loan_count = UInt32(loans.count)
    status.highest_utilization = publisher?.feedback.utilization ?? 0
    let demand = publisher?.demand
    if let box = demand?.box {
      status.demanded_width = UInt32(box.width)
      status.demanded_height = UInt32(box.height)
    }
    if let rate = demand?.rate {
      status.demanded_rate_numerator = UInt32(clamping: rate.numerator)
      status.demanded_rate_denominator = UInt32(clamping: rate.denominator)
    }
    return status
  }
}
