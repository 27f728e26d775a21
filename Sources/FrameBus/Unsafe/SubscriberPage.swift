import CFrameLayout
import Platform

/// One subscriber's page. The subscriber writes it; the publisher reads it as untrusted data.
@safe struct SubscriberPage: @unchecked Sendable {  // because its words are accessed atomically
  /// SAFETY: a page of a mapping that the owner keeps alive.
  private let base: UnsafeMutableRawPointer

  /// The subscriber's side. The mapping must outlive the page.
  @unsafe init(_ mapping: borrowing Mapping) {
    precondition(mapping.byteCount >= PageRow.pageBytes)
    unsafe base = mapping.base
  }

  /// The publisher's side, read-only. The row must outlive the page.
  @inline(__always)
  @unsafe init(_ row: borrowing PageRow, seat: Int) {
    precondition(seat < row.count, "seat \(seat) out of \(row.count)")
    unsafe base = row.address(of: seat)
  }

  @inline(__always)
  func hold(_ index: Int) -> SharedWord64 {
    precondition(index < Int(FB_MAXIMUM_HOLDS), "hold \(index) out of \(FB_MAXIMUM_HOLDS)")
    return unsafe SharedWord64(base, at: index * 8)
  }

  @inline(__always)
  var position: SharedWord64 { unsafe SharedWord64(base, at: Int(FB_AT_POSITION)) }
  @inline(__always)
  var waiting: SharedWord32 { unsafe SharedWord32(base, at: Int(FB_AT_WAITING)) }
  var wait: SharedWord32 { unsafe SharedWord32(base, at: Int(FB_AT_WAIT)) }
  var progress: SharedWord32 { unsafe SharedWord32(base, at: Int(FB_AT_PROGRESS)) }
  var received: SharedWord64 { unsafe SharedWord64(base, at: Int(FB_AT_RECEIVED)) }
  var dropped: SharedWord64 { unsafe SharedWord64(base, at: Int(FB_AT_DROPPED)) }
  @inline(__always)
  func drops(_ reason: DropReason) -> SharedWord64 {
    unsafe SharedWord64(base, at: Int(FB_AT_DROPS) + reason.rawValue * 8)
  }
  var policy: SharedWord32 { unsafe SharedWord32(base, at: Int(FB_AT_POLICY)) }
  var utilization: SharedWord32 { unsafe SharedWord32(base, at: Int(FB_AT_UTILIZATION)) }
  var requestedRateNumerator: SharedWord32 {
    unsafe SharedWord32(base, at: Int(FB_AT_REQUESTED_RATE))
  }
  var requestedRateDenominator: SharedWord32 {
    unsafe SharedWord32(base, at: Int(FB_AT_REQUESTED_RATE) + 4)
  }
  var demand: SharedWord64 { unsafe SharedWord64(base, at: Int(FB_AT_DEMAND)) }

  @inline(__always)
  func latency(_ bucket: Int) -> SharedWord32 {
    precondition(bucket < Int(FB_LATENCY_BUCKETS), "bucket \(bucket) of \(FB_LATENCY_BUCKETS)")
    return unsafe SharedWord32(base, at: Int(FB_AT_LATENCIES) + bucket * 4)
  }

  /// A copy of the page for statistics. It is not a consistent snapshot.
  func copy() -> fb_page {
    var page = fb_page()
    unsafe SharedRecord(base, at: 0, byteCount: MemoryLayout<fb_page>.size).load(into: &page)
    return page
  }
}
