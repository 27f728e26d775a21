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
    private let listener: SharedDescriptor
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
      try self.server.carry(nil, until: deadline, stop: stop)
      var port: UInt16 = 0
      let listener = unsafe curl_tunnel_listen(&port)
      guard listener >= 0 else { throw .broken(reason: "\(SystemError.last("listen"))") }
      self.listener = SharedDescriptor(owning: listener)
      self.port = port
      do throws(SystemError) {
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
        let number = curl_tunnel_accept(listener.number)
        if number >= 0 {
          carry(Descriptor(owning: number))
        } else {
          // Out of descriptors, for example: the connection stays pending and would wake this
          // thread at once.
          _ = try? waitUntilReadable([stop.descriptorNumber], until: .after(Self.pause))
        }
      }
    }

    private func carry(_ connection: consuming Descriptor) {
      let isAdmitted = connections.withLock { connections in
        if connections == Self.maximumConnections { return false }
        connections += 1
        return true
      }
      guard isAdmitted else { return }
      let shared = SharedDescriptor(owning: connection.release())
      let leave: @Sendable () -> Void = { [self] in connections.withLock { $0 -= 1 } }
      do {
        try startThread(named: "tunnel") { [server, stop] in
          try? server.carry(shared.number, until: .after(Self.connectingFor), stop: stop)
          withExtendedLifetime(shared) { leave() }
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

    /// Connects, and forwards the bytes of the socket, if there is one, until either side closes.
    func carry(_ local: Int32?, until deadline: Deadline, stop: StopSignal) throws(HTTPError) {
      var server = unsafe curl_server()
      unsafe server.isDirect = isDirect
      unsafe server.stopDescriptor = stop.descriptorNumber
      unsafe server.deadlineNs = deadline.monotonicNs
      // SAFETY: the strings live until the call returns.
      let outcome = unsafe url.withCString { url in
        unsafe withOptionalCString(certificates) { certificates in
          unsafe server.url = url
          unsafe server.certificates = certificates
          return unsafe curl_tunnel_run(&server, local ?? -1)
        }
      }
      guard outcome != CURL_ANSWERED else { return }
      throw HTTPError(outcome, unsafe text(of: server.message), certificates: certificates)
    }
  }
#endif
