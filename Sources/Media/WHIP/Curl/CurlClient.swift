#if Media
  import CCurl
  import Platform

  /// HTTP by libcurl. It verifies certificates, follows no redirects, and bounds time and sizes.
  ///
  /// SAFETY: its handle lives from `init` to `deinit`, and only one thread at a time uses it, which
  /// `WHIPSession` ensures.
  @safe public final class CurlClient: HTTPClient, @unchecked Sendable {
    // because only the signalling thread uses it

    private static let maximumHeaderBytes = 64 * 1024
    private static let maximumHeaders = 256

    private let handle: OpaquePointer
    private let certificates: String?
    private let listener: Listener?

    /// - Parameters:
    ///   - certificates: a file of certificates to trust instead of the system's.
    ///   - listener: receives libcurl's debug output (`CURLOPT_DEBUGFUNCTION`) with its
    ///     `curl_infotype`: libcurl's messages and the headers of both sides, including the bearer
    ///     token.
    public init(
      certificates: String? = nil, listener: (@Sendable (UInt32, String) -> Void)? = nil
    ) throws(HTTPError) {
      guard let handle = unsafe curl_client_create() else {
        throw .broken(reason: "libcurl cannot be initialised")
      }
      unsafe self.handle = handle
      self.certificates = certificates
      self.listener = listener.map(Listener.init)
    }

    /// The context of the C callback.
    fileprivate final class Listener: Sendable {
      let receive: @Sendable (UInt32, String) -> Void
      init(_ receive: @escaping @Sendable (UInt32, String) -> Void) { self.receive = receive }
    }

    deinit { unsafe curl_client_destroy(handle) }

    public func send(
      _ request: HTTPRequest, until deadline: Deadline, stop: StopSignal?
    ) throws(HTTPError) -> HTTPResponse {
      var exchange = unsafe curl_exchange()
      unsafe exchange.server.isDirect = request.address.isLoopback
      unsafe exchange.server.stopDescriptor = stop?.descriptorNumber ?? -1
      unsafe exchange.server.deadlineNs = deadline.monotonicNs
      unsafe exchange.maximumBodyBytes = WHIPSession.maximumAnswerBytes
      unsafe exchange.maximumHeaderBytes = Self.maximumHeaderBytes
      if let listener {
        // SAFETY: this object keeps the listener until the exchange has ended.
        unsafe exchange.listenerContext = Unmanaged.passUnretained(listener).toOpaque()
        unsafe exchange.listener = handleCurlText
      }
      defer { unsafe curl_exchange_clear(&exchange) }
      let outcome = unsafe run(request, &exchange)
      guard outcome == CURL_ANSWERED else {
        throw HTTPError(
          outcome, unsafe text(of: exchange.server.message), certificates: certificates)
      }
      // SAFETY: each pointer is valid for the byte count beside it, or nil with a count of 0.
      let header = unsafe UnsafeRawBufferPointer(
        start: exchange.header, count: exchange.headerBytes)
      let answer = unsafe UnsafeRawBufferPointer(
        start: exchange.answer, count: exchange.answerBytes)
      return HTTPResponse(
        status: unsafe exchange.status, headers: Self.headers(unsafe Array(header)),
        body: unsafe Array(answer))
    }

    /// Lends the request to the C side during the exchange.
    private func run(_ request: HTTPRequest, _ exchange: inout curl_exchange) -> curl_outcome {
      let headers = request.headers.map { "\($0.name): \($0.value)\n" }.joined()
      return unsafe request.method.rawValue.withCString { method in
        unsafe request.address.text.withCString { url in
          unsafe headers.withCString { headers in
            unsafe request.body.withCString { body in
              unsafe exchange.method = method
              unsafe exchange.server.url = url
              unsafe exchange.headers = headers
              unsafe exchange.body = body
              unsafe exchange.bodyBytes = request.body.utf8.count
              return unsafe run(bearer: request.bearer, &exchange)
            }
          }
        }
      }
    }

    private func run(bearer: BearerToken?, _ exchange: inout curl_exchange) -> curl_outcome {
      guard let bearer else { return unsafe runTrusting(&exchange) }
      return bearer.withBytes { bytes in
        unsafe bytes.withUnsafeBytes { bytes in
          unsafe exchange.bearer = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
          unsafe exchange.bearerBytes = bytes.count
          return unsafe runTrusting(&exchange)
        }
      }
    }

    private func runTrusting(_ exchange: inout curl_exchange) -> curl_outcome {
      guard let certificates else { return unsafe curl_client_run(handle, &exchange) }
      return unsafe certificates.withCString { path in
        unsafe exchange.server.certificates = path
        return unsafe curl_client_run(handle, &exchange)
      }
    }

    /// The headers of the final response. An interim one such as 100 Continue may precede it.
    static func headers(_ bytes: [UInt8]) -> [HTTPHeader] {
      var found: [HTTPHeader] = []
      for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
        if line.hasPrefix("HTTP/") { found = [] }
        guard found.count < maximumHeaders, let colon = line.firstIndex(of: ":") else { continue }
        let value = line[line.index(after: colon)...].drop(while: \.isWhitespace)
        found.append(HTTPHeader(String(line[..<colon]), String(value)))
      }
      return found
    }
  }

  extension HTTPError {
    /// - Parameters:
    ///   - reason: libcurl's message.
    ///   - certificates: the file of trusted certificates, if the user named one.
    init(_ outcome: curl_outcome, _ reason: String, certificates: String?) {
      self =
        switch outcome {
        case CURL_STOPPED: .stopped
        case CURL_TIMED_OUT: .timedOut
        case CURL_UNRESOLVABLE: .unresolvable
        case CURL_UNREACHABLE: .cannotConnect(reason: reason)
        case CURL_CERTIFICATE: .badCertificate(reason: reason)
        case CURL_CA_UNREADABLE: .unreadableCertificates(path: certificates ?? "")
        case CURL_TOO_LARGE: .answerTooLarge
        case CURL_HEADER_TOO_LONG: .headerTooLong
        default: .broken(reason: reason)
        }
    }
  }

  /// The text in a C array of characters, which Swift imports as a tuple.
  func text<Characters>(of characters: Characters) -> String {
    // SAFETY: a tuple of characters is read as the bytes it is.
    let bytes = unsafe withUnsafeBytes(of: characters) { unsafe Array($0) }
    return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self).shortened
  }

  /// SAFETY: called during an exchange, whose client keeps the listener; `text` has `count` bytes.
  private func handleCurlText(
    _ context: UnsafeMutableRawPointer?, _ kind: UInt32, _ text: UnsafePointer<CChar>?, _ count: Int
  ) {
    guard let context = unsafe context else { return }
    let listener = unsafe Unmanaged<CurlClient.Listener>.fromOpaque(context).takeUnretainedValue()
    let bytes = unsafe UnsafeRawBufferPointer(start: text, count: count)
    listener.receive(kind, unsafe String(decoding: bytes, as: UTF8.self))
  }
#endif
