#if Media
  import CCurl
  import Platform
  import Synchronization

  /// A loopback port whose connections libcurl forwards to a server over TLS, with certificates
  /// verified. It serves a library without TLS.
  ///
  /// Any process of this machine can use the port to reach the server, as it could without the
  /// tunnel.
  public final class TLSTunnel: Sendable {
    private static let maximumConnections = 8
    private static let connectingFor = Duration.seconds(10)
    private static let pause = Duration.milliseconds(100)

    public let port: UInt16
    private let server: TunnelledServer
    private let listener: LoopbackListener
    private let stop: StopSignal
    private let connections = Mutex(0)

    /// Listens once a first connection has shown that the server is reachable and trusted.
    /// - Parameters:
    ///   - certificates: a file of certificates to trust instead of the system's.
    ///   - stop: ends the wait for the first connection.
    public init(
      to server: ICEServer, certificates: String?, until deadline: Deadline, stop: StopSignal
    ) throws(HTTPError) {
      self.server = TunnelledServer(
        url: "https://\(server.host):\(server.port)", certificates: certificates,
        isDirect: server.isLoopback)
      _ = try self.server.connect(until: deadline, stop: stop)
      do throws(SystemError) {
        listener = try LoopbackListener()
        port = listener.port
        self.stop = try StopSignal()
        try startThread(named: "tunnel") { [self] in admit() }
      } catch {
        throw .broken(reason: "\(error)")
      }
    }

    /// Closes every connection and stops listening.
    public func close() { stop.raise() }

    private func admit() {
      while let ready = try? waitUntilReadable(
        [stop.descriptorNumber, listener.number], until: .never), !ready[0]
      {
        if let connection = listener.accept() {
          carry(connection)
        } else {
          // Out of descriptors, for example: the connection stays pending and would wake this
          // thread at once.
          _ = try? waitUntilReadable([stop.descriptorNumber], until: .after(Self.pause))
        }
      }
    }

    private func carry(_ local: LoopbackConnection) {
      let isAdmitted = connections.withLock { connections in
        if connections == Self.maximumConnections { return false }
        connections += 1
        return true
      }
      guard isAdmitted else { return }
      let leave: @Sendable () -> Void = { [self] in connections.withLock { $0 -= 1 } }
      do {
        try startThread(named: "tunnel") { [server, stop] in
          let remote = try? server.connect(until: .after(Self.connectingFor), stop: stop)
          try? remote?.exchange(with: local, stop: stop)
          withExtendedLifetime(local) { leave() }
        }
      } catch {
        leave()
      }
    }
  }

  private struct TunnelledServer: Sendable {
    let url: String
    let certificates: String?
    let isDirect: Bool

    func connect(until deadline: Deadline, stop: StopSignal) throws(HTTPError) -> TLSConnection {
      guard let handle = unsafe curl_tunnel_create() else {
        throw .broken(reason: "libcurl cannot be initialised")
      }
      let connection = unsafe TLSConnection(handle)
      var server = unsafe curl_server()
      unsafe server.isDirect = isDirect
      unsafe server.stopDescriptor = stop.descriptorNumber
      unsafe server.deadlineNs = deadline.monotonicNs
      // SAFETY: the strings live until the call returns.
      let outcome = unsafe url.withCString { url in
        unsafe withOptionalCString(certificates) { certificates in
          unsafe server.url = url
          unsafe server.certificates = certificates
          return unsafe curl_tunnel_connect(handle, &server)
        }
      }
      if outcome == CURL_ANSWERED { return connection }
      throw HTTPError(outcome, unsafe text(of: server.message), certificates: certificates)
    }
  }

  /// A connection by libcurl. Used by one thread.
  ///
  /// SAFETY: its handle lives from `init` to `deinit`.
  @safe private final class TLSConnection {
    private let handle: OpaquePointer

    @unsafe init(_ handle: OpaquePointer) { unsafe self.handle = handle }

    deinit { unsafe curl_tunnel_destroy(handle) }

    /// Forwards bytes both ways until either side closes, or the signal is raised.
    func exchange(with local: LoopbackConnection, stop: StopSignal) throws(SystemError) {
      let socket = unsafe curl_tunnel_socket(handle)
      guard socket >= 0 else { return }
      var (outgoing, incoming) = (ByteFlow(), ByteFlow())
      var isHungUp = false
      while outgoing.move(from: local.receive, to: send),
        incoming.move(from: receive, to: local.send), !isHungUp
      {
        // A side is read only if there is room for its bytes.
        let events = try waitUntilReady(
          [
            (stop.descriptorNumber, .readable),
            (local.number, Self.events(reading: outgoing, writing: incoming)),
            (socket, Self.events(reading: incoming, writing: outgoing)),
          ], until: .never)
        if !events[0].isEmpty { return }
        // Received bytes are forwarded once more; bytes that cannot be sent now are lost.
        isHungUp = events[1].isHangUp || events[2].isHangUp
      }
    }

    /// The events to wait for on a side that is read into one flow and written from another.
    private static func events(reading: ByteFlow, writing: ByteFlow) -> EventLoop.Events {
      var events: EventLoop.Events = reading.isEmpty ? .readable : []
      if !writing.isEmpty { events.insert(.writable) }
      return events
    }

    private func send(_ bytes: RawSpan) -> ByteTransfer {
      // SAFETY: libcurl reads within the span's count during the call.
      unsafe bytes.withUnsafeBytes {
        unsafe ByteTransfer(curl_tunnel_send(handle, $0.baseAddress, $0.count))
      }
    }

    private func receive(into buffer: inout MutableRawSpan) -> ByteTransfer {
      // SAFETY: libcurl writes at most the buffer's count during the call.
      unsafe buffer.withUnsafeMutableBytes {
        unsafe ByteTransfer(curl_tunnel_receive(handle, $0.baseAddress, $0.count))
      }
    }
  }

  extension ByteTransfer {
    fileprivate init(_ result: Int) {
      self = result >= 0 ? .moved(result) : result == CURL_TUNNEL_WAIT ? .wouldBlock : .closed
    }
  }

  /// The buffered bytes of one direction.
  private struct ByteFlow {
    private var bytes = [UInt8](repeating: 0, count: 16 * 1024)
    private var pending = 0..<0

    var isEmpty: Bool { pending.isEmpty }

    /// Forwards bytes until one side would block.
    /// - Returns: false if one side is closed.
    mutating func move(
      from receive: (inout MutableRawSpan) -> ByteTransfer, to send: (RawSpan) -> ByteTransfer
    ) -> Bool {
      while true {
        if isEmpty {
          var elements = bytes.mutableSpan
          // SAFETY: every bit pattern is a valid byte.
          var buffer = unsafe elements.mutableBytes
          switch receive(&buffer) {
          case .moved(let count): pending = 0..<count
          case .wouldBlock: return true
          case .closed: return false
          }
        }
        // SAFETY: bytes have no padding.
        switch send(unsafe bytes.span.bytes.extracting(pending)) {
        case .moved(let count): pending = pending.dropFirst(count)
        case .wouldBlock: return true
        case .closed: return false
        }
      }
    }
  }
#endif
