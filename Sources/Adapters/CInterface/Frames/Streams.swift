import AppGroup
import CFrameBus
import FrameBus
import Platform

/// The streams of a group at one moment.
final class StreamsBox: Handled {
  static let kind = HandleKind.streams
  let reports: [StreamReport]
  init(_ reports: [StreamReport]) { self.reports = reports }

  func report(_ index: Int) throws(CFailure) -> StreamReport {
    guard reports.indices.contains(index) else {
      throw .argument("the index is \(index) of \(reports.count) streams")
    }
    return reports[index]
  }
}

@c @implementation
public func framebus_streams_open(
  _ group: OpaquePointer!, _ deadline_ns: UInt64,
  _ streams: UnsafeMutablePointer<OpaquePointer?>!, _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  // SAFETY: as of all pointers of C (CStructures.swift).
  unsafe attempt(error) { () throws(CFailure) in
    try unsafe require(streams)
    let group = try unsafe HandleTable.shared.find(group, GroupBox.self).group
    let now = monotonicNowNs()
    let left = min(deadline_ns > now ? deadline_ns - now : 0, UInt64(Int64.max))
    let reports = try SystemError.converted(
      try StreamInspector(group).poll(timeout: .nanoseconds(Int64(left))))
    try unsafe set(streams, StreamsBox(reports))
    return FRAMEBUS_OK
  }
}

@c @implementation
public func framebus_streams_count(_ streams: OpaquePointer!) -> Int32 {
  // SAFETY: the handle is looked up, not dereferenced.
  attempt { () throws(CFailure) in
    try unsafe HandleTable.shared.find(streams, StreamsBox.self).reports.count
  }
}

@c @implementation
public func framebus_streams_get(
  _ streams: OpaquePointer!, _ index: Int,
  _ status: UnsafeMutablePointer<framebus_stream_status>!,
  _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  // SAFETY: as of all pointers of C (CStructures.swift).
  unsafe attempt(error) { () throws(CFailure) in
    let report = try unsafe HandleTable.shared.find(streams, StreamsBox.self).report(index)
    try unsafe require(status, "status")
    try unsafe store(framebus_stream_status(report), into: status)
    return FRAMEBUS_OK
  }
}

@c @implementation
public func framebus_streams_format(
  _ streams: OpaquePointer!, _ index: Int, _ format: UnsafeMutablePointer<framebus_format>!,
  _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  // SAFETY: as of all pointers of C (CStructures.swift).
  unsafe attempt(error) { () throws(CFailure) in
    let report = try unsafe HandleTable.shared.find(streams, StreamsBox.self).report(index)
    try unsafe require(format, "format")
    guard case .answered(let status) = report, let own = status.format else {
      throw CFailure(
        FRAMEBUS_ERROR_NOT_FOUND, "the publisher of “\(report.name)” has told no format yet")
    }
    try unsafe store(framebus_format(own), into: format)
    return FRAMEBUS_OK
  }
}

@c @implementation
public func framebus_streams_close(_ streams: OpaquePointer!) -> Int32 {
  // SAFETY: the handle is looked up, not dereferenced.
  attempt { () throws(CFailure) in
    _ = try unsafe HandleTable.shared.remove(streams, StreamsBox.self)
    return FRAMEBUS_OK
  }
}

extension framebus_stream_status {
  fileprivate init(_ report: StreamReport) {
    self.init()
    var application = ""
    switch report {
    case .silent(_, let pid):
      state = UInt32(FRAMEBUS_STATE_SILENT)
      publisher_pid = pid
    case .answered(let status):
      application = status.application?.text ?? ""
      generation = status.generation
      published_count = status.cursor
      published_bytes = status.publishedBytes
      memory_bytes = status.retainedBytes
      state =
        switch status.state {
        case .starting: UInt32(FRAMEBUS_STATE_STARTING)
        case .live: UInt32(FRAMEBUS_STATE_LIVE)
        case .paused: UInt32(FRAMEBUS_STATE_PAUSED)
        case .finished: UInt32(FRAMEBUS_STATE_FINISHED)
        }
      pause_reason = status.pauseReason?.rawValue ?? UInt32(FRAMEBUS_PAUSE_NONE)
      content = status.content.rawValue
      publisher_pid = status.publisherPID
      subscriber_count = UInt32(status.subscribers.count)
      has_format = status.format == nil ? 0 : 1
    }
    // SAFETY: the texts are cut to their fields.
    unsafe withUnsafeMutableBytes(of: &name) { unsafe $0.copyText(report.name.text) }
    unsafe withUnsafeMutableBytes(of: &self.application) { unsafe $0.copyText(application) }
  }
}
