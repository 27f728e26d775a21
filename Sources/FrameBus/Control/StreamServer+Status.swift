import CFrameLayout

/// The control plane's answers to status queries. The subscribers' own figures are passed on
/// unchecked, in records of fixed size; they are only displayed.
extension StreamServer {
  func status() -> fb_status {
    let board = core.board
    var status = fb_status()
    status.header = fb_message_header(Int(FB_MESSAGE_STATUS))
    noteRetainedMemory()
    let header = board.header()
    status.generation = header.generation
    status.publisher_pid = header.publisher_pid
    status.state = header.state
    status.content = header.content
    status.finish_reason = header.finish_reason
    status.cursor = header.cursor
    status.published_bytes = header.published_bytes
    status.abandoned = header.abandoned
    status.wake_ups = header.wake_ups
    status.lossless_ended = header.lossless_ended
    status.evictions = header.evictions
    status.rejected = header.rejected
    status.retained_bytes = header.retained_bytes
    status.pool = core.pools.newest.description
    // SYNC status/format: pairs with the release in `PublisherCore.write`.
    let epoch = board.formatEpoch.loadAcquiring()
    board.format(epoch: epoch).load(into: &status.format)
    let rows = tenants.map { row(of: $0, core.seats.page($0.seat).copy()) }
    status.subscriber_count = UInt32(rows.count)
    status.owed = UInt32(tenants.count { !$0.connection.owedPools.isEmpty })
    // SAFETY: the record has one row for each seat.
    unsafe withUnsafeMutableBytes(of: &status.subscribers) { bytes in
      for (index, row) in rows.enumerated() {
        unsafe bytes.storeBytes(
          of: row, toByteOffset: index * MemoryLayout<fb_subscriber_status>.stride,
          as: fb_subscriber_status.self)
      }
    }
    return status
  }

  /// One subscriber's details; an empty record with a free seat if it does not exist.
  func details(of seat: UInt64) -> fb_subscriber_details {
    var details = fb_subscriber_details()
    details.header = fb_message_header(Int(FB_MESSAGE_SUBSCRIBER_STATUS))
    guard let tenant = tenants.first(where: { $0.seat == seat }) else { return details }
    let page = core.seats.page(tenant.seat).copy()
    details.subscriber = row(of: tenant, page)
    details.drops = page.drops
    details.policy = page.policy
    details.wait = page.wait
    details.utilization = page.utilization
    details.requested_rate_numerator = page.requested_rate_numerator
    details.requested_rate_denominator = page.requested_rate_denominator
    details.latencies = page.latencies
    return details
  }

  private struct Tenant {
    let seat: Int
    let connection: Connection
  }

  /// The subscribers in the order of their seats.
  private var tenants: [Tenant] {
    connections.values.filter(\.isSeated).compactMap { connection in
      connection.seat.map { Tenant(seat: $0, connection: connection) }
    }.sorted { $0.seat < $1.seat }
  }

  private func row(of tenant: Tenant, _ page: fb_page) -> fb_subscriber_status {
    let holds = core.seats.page(tenant.seat)
    var row = fb_subscriber_status()
    row.id = UInt32(tenant.seat)
    row.pid = UInt32(tenant.connection.peer.pid)
    // Relaxed: statistics, here and below.
    row.seat = core.board.seat(tenant.seat).loadRelaxed()
    row.held = UInt32((0..<tenant.connection.holds).count { holds.hold($0).loadRelaxed() != 0 })
    row.position = page.position
    row.received = page.received
    row.dropped = page.dropped
    return row
  }
}
