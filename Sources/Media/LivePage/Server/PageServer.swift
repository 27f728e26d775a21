#if Media
  import CHTTPServer
  import Platform
  import Synchronization

  /// HTTP by libmicrohttpd, with bounds on everything.
  ///
  /// SAFETY: the handle lives from `init` to `stop`, and the handler lives at least as long.
  @safe final class PageServer: @unchecked Sendable {
    // because a flag under a lock lets only one caller stop it

    private static let maximumConnections: UInt32 = 64
    /// Leaves room for other clients. Not applied on loopback, where all have one address.
    private static let maximumConnectionsOfAddress: UInt32 = 32
    private static let idleSeconds: UInt32 = 20
    private static let maximumBodyBytes = 64 * 1024

    let port: UInt16
    private let handler: PageHandler
    private let handle: OpaquePointer
    private let isStopped = Mutex(false)

    /// - Parameter answer: called on any thread; may block.
    init(
      _ address: ListenAddress, answer: @escaping @Sendable (PageRequest) -> PageAnswer
    ) throws(SystemError) {
      let handler = PageHandler(answer: answer)
      var options = unsafe http_server_options()
      unsafe options.port = address.port
      unsafe options.listeningSocket = address.socket
      unsafe options.maximumConnections = Self.maximumConnections
      unsafe options.maximumConnectionsOfAddress =
        address.isLoopback ? 0 : Self.maximumConnectionsOfAddress
      unsafe options.idleSeconds = Self.idleSeconds
      unsafe options.maximumBodyBytes = Self.maximumBodyBytes
      unsafe options.handler = handlePageRequest
      // SAFETY: this object keeps the handler until the server has stopped.
      unsafe options.context = Unmanaged.passUnretained(handler).toOpaque()
      let made = unsafe address.host.withCString { host in
        unsafe options.address = host
        return unsafe http_server_start(&options)
      }
      guard let made = unsafe made else {
        throw SystemError.last("bind", path: address.description)
      }
      self.handler = handler
      unsafe handle = made
      port = unsafe http_server_port(made)
    }

    deinit { stop() }

    /// The address with which this machine reaches others; nil without a network.
    static func outgoingAddress() -> String? {
      unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) {
        buffer -> String? in
        unsafe buffer.initialize(repeating: 0)
        // SAFETY: at most the buffer's bytes are written, as a C string.
        guard unsafe http_server_outgoing_address(buffer.baseAddress, buffer.count) else {
          return nil
        }
        return unsafe String(cString: buffer.baseAddress!)
      }
    }

    /// Closes every connection, and waits for running handlers.
    func stop() {
      let isFirst = isStopped.withLock { isStopped in
        defer { isStopped = true }
        return !isStopped
      }
      if isFirst { unsafe http_server_stop(handle) }
    }
  }

  /// The context of the C callback.
  private final class PageHandler: Sendable {
    let answer: @Sendable (PageRequest) -> PageAnswer
    init(answer: @escaping @Sendable (PageRequest) -> PageAnswer) { self.answer = answer }
  }

  /// Called by CHTTPServer on the thread of a connection.
  /// SAFETY: `context` is the `PageHandler` that the server keeps; the request is valid during the
  /// call, and each of its texts is a C string.
  private func handlePageRequest(
    _ context: UnsafeMutableRawPointer?, _ request: UnsafePointer<http_request>?,
    _ exchange: OpaquePointer?
  ) {
    guard let context = unsafe context, let request = unsafe request?.pointee else { return }
    let handler = unsafe Unmanaged<PageHandler>.fromOpaque(context).takeUnretainedValue()
    let bytes = unsafe UnsafeRawBufferPointer(start: request.body, count: request.bodyBytes)
    let answer = handler.answer(
      PageRequest(
        method: unsafe String(cString: request.method),
        path: unsafe String(cString: request.path), host: unsafe String(cString: request.host),
        origin: unsafe String(cString: request.origin),
        contentType: unsafe String(cString: request.contentType),
        ifMatch: unsafe String(cString: request.ifMatch),
        localAddress: unsafe String(cString: request.localAddress),
        body: unsafe String(validating: bytes, as: UTF8.self),
        isTooLarge: unsafe request.isTooLarge))
    for (name, value) in answer.headers {
      unsafe http_exchange_add_header(exchange, name, value)
    }
    let status = UInt32(answer.status)
    let body = Array(answer.body.utf8)
    unsafe body.withUnsafeBytes {
      unsafe http_exchange_answer(exchange, status, $0.baseAddress, $0.count)
    }
  }
#endif
