#if Media
  import CNATS
  import Platform

  /// One connection to a NATS server, from start to end. Any number of threads may use it.
  @safe final class NATSConnection: @unchecked Sendable {
    // because libnats locks what its threads share, and the pointer never changes

    /// SAFETY: valid until deinit, which listeners outlive by holding the link.
    private let link: OpaquePointer

    /// Waits for the server, for some seconds.
    /// - Parameters:
    ///   - server: of the access, or another one of its cluster.
    ///   - wake: raised at the end of the connection.
    ///   - isDriven: whether one thread of the caller reads and writes.
    init(
      _ access: NATSAccess, to server: NATSAccess.Server, named name: String, wake: EventCounter?,
      isDriven: Bool
    ) throws(NATSFailure) {
      var options = unsafe fb_nats_options()
      unsafe options.port = Int32(server.port)
      unsafe options.is_secure = access.isSecure
      unsafe options.learns_servers = access.isSecure || access.isPlainAllowed
      unsafe options.is_driven = isDriven
      unsafe options.wake_descriptor = wake?.number ?? -1
      var texts: [String?] = [
        server.host, name, access.certificates, access.certificateName(of: server),
      ]
      texts += [String?](repeating: nil, count: 6)
      switch access.proof {
      case .nobody: break
      case .password(let user, let password): (texts[4], texts[5]) = (user, password)
      case .key(let key, let seed): (texts[6], texts[8]) = (key, seed)
      case .jwt(let jwt, let seed): (texts[7], texts[8]) = (jwt, seed)
      case .token(let token): texts[9] = token
      }
      var kind = FB_NATS_UNREACHABLE
      // SAFETY: the texts live during the call, which copies them.
      let (opened, message) = unsafe withCTexts(texts) { texts in
        unsafe options.host = texts[0]
        unsafe options.name = texts[1]
        unsafe options.certificates = texts[2]
        unsafe options.certificate_name = texts[3]
        unsafe options.user = texts[4]
        unsafe options.password = texts[5]
        unsafe options.public_key = texts[6]
        unsafe options.jwt = texts[7]
        unsafe options.seed = texts[8]
        unsafe options.token = texts[9]
        return unsafe withMessage { unsafe fb_nats_open(&options, &kind, $0) }
      }
      guard let opened = unsafe opened else {
        throw NATSFailure(
          kind: Self.kind(kind), url: access.url, credential: access.credential, detail: message)
      }
      unsafe link = opened
    }

    private static func kind(_ failure: fb_nats_failure) -> NATSFailure.Kind {
      switch failure {
      case FB_NATS_REFUSED: .refused
      case FB_NATS_UNTRUSTED: .untrusted
      case FB_NATS_PLAIN: .plain
      case FB_NATS_UNUSABLE: .unusable
      default: .unreachable
      }
    }

    deinit { unsafe fb_nats_close(link) }

    var isConnected: Bool { unsafe fb_nats_is_connected(link) }
    /// Why it ended; empty if unknown.
    var lastError: String {
      unsafe withMessage { unsafe fb_nats_last_error(link, $0) }.message
    }

    /// What the server says about subjects that it does not let this user use.
    func takeRefusals() -> [String] {
      var texts: [String] = []
      while true {
        let (isOne, text) = unsafe withMessage { unsafe fb_nats_take_refusal(link, $0) }
        guard isOne, texts.count < Self.mostRefusals else { return texts }
        texts.append(text)
      }
    }

    /// Addresses of a cluster's other servers.
    func learnedServers() -> [String] {
      var texts: [String] = []
      while texts.count < Self.mostServers {
        let index = Int32(texts.count)
        let (isOne, text) = unsafe withMessage { unsafe fb_nats_learned_server(link, index, $0) }
        guard isOne else { break }
        texts.append(text)
      }
      return texts
    }

    private static let mostRefusals = 64
    private static let mostServers = 16

    // MARK: Driving

    /// Waits until the socket or one of two descriptors is ready, and reads and writes.
    /// - Returns: whether `wake` is readable.
    func drive(
      stop: Int32, wake: Int32, until deadline: Deadline
    ) throws(SystemError) -> Bool {
      let nowNs = monotonicNowNs()
      // Rounded up, because a wait that ends early would only be repeated.
      let leftMs =
        deadline.monotonicNs > nowNs ? (deadline.monotonicNs - nowNs) / 1_000_000 + 1 : 0
      switch unsafe fb_nats_drive(link, stop, wake, Int32(min(leftMs, 3_600_000))) {
      case 0: return false
      case 1: return true
      default: throw .last("poll")
      }
    }

    // MARK: Messages

    @discardableResult
    func publish(_ bytes: [UInt8], to subject: String, reply: String? = nil) -> Bool {
      // SAFETY: the bytes and texts live during the call, which copies them.
      unsafe bytes.withUnsafeBufferPointer { bytes in
        unsafe fb_nats_publish(link, subject, reply, bytes.baseAddress, bytes.count)
      }
    }

    /// Receives a subject.
    /// - Parameters:
    ///   - mostMessages: how many messages wait here at most.
    ///   - mostBytes: how many bytes they have together at most.
    func listen(
      to subject: String, mostMessages: Int32, mostBytes: Int32
    ) throws(NATSError) -> NATSListener {
      guard let listener = unsafe fb_nats_listen(link, subject, mostMessages, mostBytes) else {
        let why = lastError
        throw NATSError(
          description: "cannot subscribe to \(subject): "
            + (why.isEmpty ? "the connection is closed" : why))
      }
      return unsafe NATSListener(listener, of: self)
    }

    // MARK: Streams

    func makeStream(_ stream: NATSStream) throws(NATSError) -> NATSStream.State {
      var wanted = unsafe fb_nats_stream()
      unsafe wanted.in_memory = stream.isInMemory
      unsafe wanted.most_per_subject = stream.mostPerSubject
      unsafe wanted.most_bytes = stream.mostBytes
      unsafe wanted.most_age_ns = Int64(clamping: stream.mostAge.clampedNanoseconds)
      unsafe wanted.duplicates_ns = Int64(clamping: stream.duplicates.clampedNanoseconds)
      unsafe wanted.is_bucket = stream.name.hasPrefix("KV_")
      var state = fb_nats_stream_state()
      // SAFETY: the texts live during the call, which copies them.
      let (status, message) = unsafe withCTexts([stream.name, stream.subjects]) { texts in
        unsafe wanted.name = texts[0]
        unsafe wanted.subjects = texts[1]
        return unsafe withMessage { unsafe fb_nats_make_stream(link, &wanted, &state, $0) }
      }
      if status != 0 { throw NATSError(description: message) }
      return NATSStream.State(madeNs: state.made_ns, lacksReplicas: state.lacks_replicas)
    }

    func madeNs(of stream: String) throws(NATSError) -> UInt64 {
      var madeNs: UInt64 = 0
      let (status, message) = unsafe withMessage {
        unsafe fb_nats_stream_made(link, stream, &madeNs, $0)
      }
      if status != 0 { throw NATSError(description: message) }
      return madeNs
    }

    /// Stores a message.
    /// - Parameters:
    ///   - id: by which the server recognizes a repetition.
    ///   - revision: the subject's expected present sequence number, 0 for no message; nil for any.
    /// - Returns: its sequence number; nil if another one was stored meanwhile.
    func store(
      _ bytes: [UInt8], in stream: String, as subject: String, id: String? = nil,
      over revision: UInt64? = nil
    ) throws(NATSError) -> UInt64? {
      var sequence: UInt64 = 0
      let expected = revision.map { Int64(clamping: $0) } ?? -1
      // SAFETY: the bytes and texts live during the call, which copies them.
      let (status, message) = unsafe bytes.withUnsafeBufferPointer { bytes in
        unsafe withMessage {
          unsafe fb_nats_store(
            link, stream, subject, bytes.baseAddress, bytes.count, id, expected, &sequence, $0)
        }
      }
      switch Int(status) {
      case FB_NATS_STORED: return sequence
      case FB_NATS_OTHER_REVISION: return nil
      default: throw NATSError(description: message)
      }
    }

    /// The newest message of a subject; nil for none.
    func newest(
      in stream: String, _ subject: String, atMost limit: Int
    ) throws(NATSError) -> NATSMessage? {
      var found = unsafe fb_nats_message()
      let (status, message) = unsafe withMessage {
        unsafe fb_nats_newest(link, stream, subject, &found, $0)
      }
      if status < 0 { throw NATSError(description: message) }
      return status == 0 ? nil : unsafe NATSMessage(taking: &found, atMost: limit)
    }

    /// Receives a stream's messages in order.
    /// - Returns: the number of messages that are in the stream already.
    func follow(
      _ stream: String, _ subject: String, from start: NATSStart
    ) throws(NATSError) -> (listener: NATSListener, pending: UInt64) {
      var pending: UInt64 = 0
      var place = fb_nats_start()
      switch start {
      case .first: break
      case .newestOnly: place.newest_only = true
      case .time(let ns): place.since_ns = ns
      case .sequence(let number): place.sequence = number
      }
      let (listener, message) = unsafe withMessage {
        unsafe fb_nats_follow(link, stream, subject, place, &pending, $0)
      }
      guard let listener = unsafe listener else { throw NATSError(description: message) }
      return (unsafe NATSListener(listener, of: self), pending)
    }
  }

  /// A received message. One that is longer than its reader allows has no bytes.
  struct NATSMessage: Sendable {
    let subject: String
    let bytes: [UInt8]
    let sequence: UInt64
    /// When the server stored it, in nanoseconds since 1970 by its clock.
    let serverNs: UInt64
    /// The number of messages that follow in the stream.
    let pending: UInt64
    /// Whether it says that no stream stores the subject.
    let isUnhandled: Bool

    fileprivate init(taking message: inout fb_nats_message, atMost limit: Int) {
      subject = unsafe String(cString: message.subject)
      let count = unsafe message.count <= limit ? message.count : 0
      // SAFETY: libnats says how many bytes there are, and keeps them until the message is freed.
      bytes = unsafe Array(UnsafeBufferPointer(start: message.bytes, count: count))
      sequence = unsafe message.sequence
      serverNs = unsafe message.server_ns
      pending = unsafe message.pending
      isUnhandled = unsafe message.is_unhandled
      unsafe fb_nats_message_free(&message)
    }
  }

  /// The messages of a subject that wait here. One thread at a time may use it.
  @safe final class NATSListener: @unchecked Sendable {
    // because libnats locks what its threads share, and the pointer never changes

    /// SAFETY: valid until deinit, which happens before the link's.
    private let listener: OpaquePointer
    private let link: NATSConnection

    fileprivate init(_ listener: OpaquePointer, of link: NATSConnection) {
      unsafe self.listener = listener
      self.link = link
    }

    deinit { unsafe fb_nats_listener_free(listener) }

    enum Result {
      case message(NATSMessage)
      case nothing
      /// Messages were dropped, because too many waited, or the listener has ended.
      case interrupted
    }

    func next(within limit: Duration = .zero, atMost byteLimit: Int) -> Result {
      var message = unsafe fb_nats_message()
      let limitMs = Int64(limit.clampedNanoseconds / 1_000_000)
      switch unsafe fb_nats_next(listener, limitMs, &message) {
      case 1: return .message(unsafe NATSMessage(taking: &message, atMost: byteLimit))
      case 0: return .nothing
      default: return .interrupted
      }
    }

    enum Parsed<Value> {
      case value(Value)
      case nothing
      /// Messages were dropped, because too many waited, or the listener has ended.
      case interrupted
    }

    /// Takes a message that waits here, and parses it where libnats has it, without a copy.
    func next<Value>(
      _ parse: (_ subject: Span<UInt8>, _ bytes: Span<UInt8>) -> Value
    ) -> Parsed<Value> {
      var message = unsafe fb_nats_message()
      switch unsafe fb_nats_next(listener, 0, &message) {
      case 1:
        defer { unsafe fb_nats_message_free(&message) }
        // SAFETY: CNATS says how many bytes there are, and libnats keeps them until the message is
        // freed.
        let subject = unsafe UnsafeRawBufferPointer(
          start: message.subject, count: message.subject_count)
        let bytes = unsafe UnsafeBufferPointer(start: message.bytes, count: message.count)
        return unsafe .value(parse(subject.assumingMemoryBound(to: UInt8.self).span, bytes.span))
      case 0: return .nothing
      default: return .interrupted
      }
    }

    var droppedCount: Int64 { unsafe fb_nats_dropped(listener) }
  }

  /// Calls with a buffer for a message of CNATS, and returns the message too.
  private func withMessage<Result>(
    _ body: (UnsafeMutablePointer<CChar>) -> Result
  ) -> (result: Result, message: String) {
    var buffer = [CChar](repeating: 0, count: Int(FB_NATS_MESSAGE_BYTES))
    // SAFETY: the functions write at most that many bytes, and end them with a zero.
    let result = unsafe buffer.withUnsafeMutableBufferPointer { unsafe body($0.baseAddress!) }
    let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    return (result, String(decoding: bytes, as: UTF8.self).plain)
  }

  /// Calls with texts as C strings, of which some may be nil, and wipes them.
  private func withCTexts<Result>(
    _ texts: [String?], _ body: ([UnsafePointer<CChar>?]) throws -> Result
  ) rethrows -> Result {
    let copies = unsafe texts.map { text -> UnsafeMutableBufferPointer<CChar>? in
      guard let text else { return nil }
      let bytes = text.utf8.map { CChar(bitPattern: $0) } + [0]
      let copy = UnsafeMutableBufferPointer<CChar>.allocate(capacity: bytes.count)
      _ = unsafe copy.initialize(from: bytes)
      return unsafe copy
    }
    defer {
      for index in unsafe copies.indices {
        guard let copy = unsafe copies[index] else { continue }
        unsafe copy.update(repeating: 0)
        unsafe copy.deallocate()
      }
    }
    return unsafe try body(
      copies.map { unsafe $0.flatMap { unsafe UnsafePointer($0.baseAddress) } })
  }
#endif
