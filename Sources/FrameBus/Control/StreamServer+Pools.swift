import CFrameLayout
import Platform
import Synchronization

/// Sends new pools to subscribers, and evicts those that do not accept them.
extension StreamServer {
  /// Maximum number of unacknowledged pools of a subscriber, which keeps their memory alive.
  private static let maximumUnacknowledgedPools = 2

  /// Owes a new pool to every subscriber.
  func offer(_ pool: Pool, keptFrom: UInt32) {
    // Two loans of one pool may both have been its first.
    guard pool.generation > pools.last?.generation ?? 0 else { return }
    oldestPool = keptFrom
    let areKept = { (pool: Pool) in pool.generation >= keptFrom }
    pools = pools.filter(areKept).suffix(PoolView.mostKept - 1) + [pool]
    for connection in connections.values where connection.seat != nil && !connection.isEvicted {
      connection.owedPools =
        connection.owedPools.filter(areKept).suffix(PoolView.mostKept - 1) + [pool]
      flush(connection)
    }
    noteRetainedMemory()
  }

  /// Sends a subscriber its owed annotation and pools.
  func flush(_ connection: Connection) {
    // First, so that an annotation that a subscriber does not read delays no notice.
    if !connection.owedPools.isEmpty,
      connection.unacknowledgedPools >= Self.maximumUnacknowledgedPools
    {
      giveNotice(connection)
    }
    guard flushAnnotation(connection) else { return }
    while let pool = connection.owedPools.first {
      guard connection.unacknowledgedPools < Self.maximumUnacknowledgedPools else {
        return giveNotice(connection)
      }
      let message = fb_pool_message(
        header: fb_message_header(Int(FB_MESSAGE_POOL)), pool: pool.description,
        oldest: oldestPool, reserved: 0)
      switch connection.socket.send(message, descriptors: [pool.file.descriptor.number]) {
      case .sent:
        crashPoint(.poolSent)
        connection.owedPools.removeFirst()
        connection.unacknowledgedPools += 1
      case .wouldBlock: return connection.watchForRoom(true)
      case .shortOfResources: return flushLater(connection)
      case .disconnected: return drop(connection)
      }
    }
    connection.watchForRoom(false)
  }

  func flushLater(_ connection: Connection) {
    connection.watchForRoom(false)
    guard !connection.isToBeFlushed else { return }
    connection.isToBeFlushed = true
    loop.schedule(at: .after(Self.rest)) { [weak self, weak connection] in
      guard let self, let connection, connection.seat != nil else { return }
      connection.isToBeFlushed = false
      flush(connection)
    }
  }

  /// Evicts a subscriber that acknowledges none of its pools within the timeout.
  private func giveNotice(_ connection: Connection) {
    connection.watchForRoom(false)
    guard !connection.isOnNotice else { return }
    connection.isOnNotice = true
    let acknowledged = connection.acknowledgedPools
    loop.schedule(at: .after(Self.peerTimeout)) { [weak self, weak connection] in
      guard let self, let connection, let seat = connection.seat else { return }
      connection.isOnNotice = false
      if connection.acknowledgedPools == acknowledged {
        evict(connection, from: seat)
      } else {
        flush(connection)
      }
    }
  }

  /// Ends a subscriber's delivery: it gets no more pools, no longer counts, and its later pins are
  /// ignored. Its present holds stay valid until it releases them or its connection ends.
  private func evict(_ connection: Connection, from seat: Int) {
    connection.isEvicted = true
    connection.owedPools = []
    // SYNC hold/evict: Dekker. Our store of the seat, this fence, our loads of the holds; pairs
    // with the fence in `Attachment.pin`. Either we see a hold, or its owner sees that it came too
    // late. Relaxed: the fence orders it.
    core.board.seat(seat).storeRelaxed(UInt32(FB_SEAT_EVICTED))
    crashPoint(.evictionShown)
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    core.seats.evict(seat)
    crashPoint(.seatEvicted)
    // Relaxed: one writer, a statistic.
    core.board.evictions.storeRelaxed(core.board.evictions.loadRelaxed() &+ 1)
    crashPoint(.evictionCounted)
    _ = connection.socket.send(fb_short_message(Int(FB_MESSAGE_LOOK)))
    noteChange()
  }

  /// Publishes the memory of the pools kept for new frames and for owed subscribers.
  func noteRetainedMemory() {
    var kept: [ObjectIdentifier: Pool] = [:]
    for pool in pools + [core.pools.newest] + connections.values.flatMap(\.owedPools) {
      kept[ObjectIdentifier(pool)] = pool
    }
    // Relaxed: one writer, informational.
    core.board.retainedBytes.storeRelaxed(
      kept.values.reduce(0) { $0 + UInt64(clamping: $1.file.allocatedByteCount()) })
    crashPoint(.retentionShown)
  }
}
