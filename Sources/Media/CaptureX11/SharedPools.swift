#if Media
  import CXCB
  import FrameBus
  import Platform
  import Synchronization

  /// The memory that the server may write to: each pool of the publisher, by generation.
  ///
  /// Shared with the publisher's `poolWillSeal`, which attaches.
  final class SharedPools: Sendable {
    private let connection: XConnection
    private let segments = Mutex<[UInt32: xcb_shm_seg_t]>([:])

    init(_ connection: XConnection) { self.connection = connection }

    /// Lets the server map a pool, and waits until it has: sealing the pool any earlier would make
    /// the mapping fail.
    func attach(_ pool: PoolDescriptor) throws(ScreenError) {
      guard pool.byteCount <= UInt32.max else {
        throw .poolTooLarge(byteCount: pool.byteCount)
      }
      let descriptor: Descriptor
      do { descriptor = try .duplicating(pool.descriptorNumber) } catch { throw .system(error) }
      let segment = try attachSegment(connection, to: descriptor)
      segments.withLock { $0[pool.generation] = segment }
    }

    /// The segment to write to. The publisher writes to one pool at a time, the newest that it has
    /// taken: earlier pools are only read from then on.
    func segment(of generation: UInt32) -> xcb_shm_seg_t? {
      segments.withLock { segments in
        for (former, segment) in segments where former < generation {
          // SAFETY: the connection is open as long as self lives.
          unsafe xcb_shm_detach(connection.pointer, segment)
          segments[former] = nil
          connection.flush()
        }
        return segments[generation]
      }
    }
  }

  /// Passes a descriptor to the server to map, and waits for the answer.
  func attachSegment(
    _ connection: XConnection, to descriptor: consuming Descriptor
  ) throws(ScreenError) -> xcb_shm_seg_t {
    let segment = connection.makeID()
    // SAFETY: libxcb closes the descriptor once it is sent.
    let cookie = unsafe xcb_shm_attach_fd_checked(
      connection.pointer, segment, descriptor.release(), 0)
    if let code = try connection.check(cookie) {
      throw .cannotShareMemory(display: connection.display, code: code)
    }
    return segment
  }

  /// Memory that only this process and the server share, to grab into and copy from.
  struct PrivateSegment: ~Copyable {
    let mapping: Mapping
    let segment: xcb_shm_seg_t
    private let connection: XConnection

    init(_ connection: XConnection, byteCount: Int) throws(ScreenError) {
      let file = try ScreenError.attempt(MemoryFile(named: "framebus-screen", byteCount: byteCount))
      try ScreenError.attempt(file.add(.size))
      let mapping = try ScreenError.attempt(Mapping(file, .readAndWrite))
      let shared = try ScreenError.attempt(file.descriptor.duplicate())
      segment = try attachSegment(connection, to: shared)
      self.mapping = mapping
      self.connection = connection
    }

    /// The server's picture.
    /// SAFETY: valid as long as this value; it is this process's and the server's.
    @unsafe var pixels: UnsafeMutableRawBufferPointer {
      unsafe UnsafeMutableRawBufferPointer(start: mapping.base, count: mapping.byteCount)
    }

    /// SAFETY: the connection is open as long as this value lives.
    deinit { unsafe xcb_shm_detach(connection.pointer, segment) }
  }
#endif
