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
    let rows = seated.map { row(of: $0, core.places.page($0.place).copy()) }
    status.subscriber_count = UInt32(rows.count)
    status.owed = UInt32(seated.count { !$0.connection.owedPools.isEmpty })
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
  func details(of place: UInt64) -> fb_subscriber_details {
    var details = fb_subscriber_details()
    details.header = fb_message_header(Int(FB_MESSAGE_SUBSCRIBER_STATUS))
    guard let seat = seated.first(where: { $0.place == place }) else { return details }
    let page = core.places.page(seat.place).copy()
    details.subscriber = row(of: seat, page)
    details.drops = page.drops
    details.policy = page.policy
    details.wait = page.wait
    details.utilization = page.utilization
    details.wanted_rate_numerator = page.wanted_rate_numerator
    details.wanted_rate_denominator = page.wanted_rate_denominator
    details.latencies = page.latencies
    return details
  }

  private struct Seat {
    let place: Int
    let connection: Connection
  }

  /// The subscribers in the order of their seats.
  private var seated: [Seat] {
    connections.values.filter(\.isSeated).compactMap { connection in
      connection.place.map { Seat(place: $0, connection: connection) }
    }.sorted { $0.place < $1.place }
  }

  private func row(of seat: Seat, _ page: fb_page) -> fb_subscriber_status {
    let holds = core.places.page(seat.place)
    var row = fb_subscriber_status()
    row.id = UInt32(seat.place)
    row.pid = UInt32(seat.connection.peer.pid)
    // Relaxed: statistics, here and below.
    row.place = core.board.place(seat.place).loadRelaxed()
    row.held = UInt32((0..<seat.connection.holds).count { holds.hold($0).loadRelaxed() != 0 })
    row.position = page.position
    row.received = page.received
    row.dropped = page.dropped
    return row
  }
}
