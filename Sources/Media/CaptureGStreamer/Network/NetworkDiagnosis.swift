#if Media
  import CGStreamer
  import Capture
  import Platform

  /// Finds out why a connection failed. GStreamer's errors do not tell a wrong passphrase of SRT
  /// from a missing listener, so the server is asked again, after the failure.
  struct NetworkDiagnosis {
    let address: SourceAddress
    let secret: NetworkSecret?

    private static let timeoutMs: Int32 = 3000

    func fault(_ cause: NetworkFault.Cause) -> PipelineError {
      .network(NetworkFault(cause: cause, address: address.shown))
    }

    /// The numeric addresses of the server.
    func resolve(stop: StopSignal) throws(PipelineError) -> [String] {
      let found: [String]?
      do throws(SystemError) {
        let deadline = Deadline.after(.milliseconds(Int64(Self.timeoutMs)))
        found = try addresses(ofHost: address.host, until: deadline, stop: stop)
      } catch { throw .system(error) }
      guard let found else { throw fault(.noAnswer) }
      if found.isEmpty { throw fault(.notFound) }
      return found
    }

    /// The error with its cause, as far as that can be found out.
    /// - Parameter hasWorked: whether there was a connection: SRT's listener is then not asked for
    ///   one that would take the place of the next.
    func explain(_ error: PipelineError, hasWorked: Bool, stop: StopSignal) -> PipelineError {
      if stop.isRaised { return error }
      let reported: ReportedFailure
      switch error {
      case .resource where address.web != nil: return fault(.lost)
      case .resource(let failure): reported = failure
      case .failed, .endedSilently: return fault(.lost)
      default: return error
      }
      let text = address.redacted(in: reported.reason).without([secret?.text ?? ""]).plain
      if address.listens { return fault(.cannotListen(text)) }
      guard let target = try? resolve(stop: stop).first else { return fault(.notFound) }
      if let cause = reach(target) { return fault(cause) }
      if address.scheme == "srt" {
        guard !hasWorked || reported.isRefusal, let cause = askSRT(target) else {
          return fault(.lost)
        }
        return fault(cause)
      }
      if address.isEncrypted, let why = distrust() { return fault(.untrusted(why)) }
      if reported.isRefusal { return fault(.unauthorized(hasSecret: secret != nil)) }
      if reported.isNotFound { return fault(.noStream) }
      return fault(.other(text))
    }

    /// - Returns: nil if the server can be reached.
    private func reach(_ target: String) -> NetworkFault.Cause? {
      // SAFETY: the text is read during the call.
      let failure = unsafe fb_network_reach(
        target, address.port, address.scheme == "srt", Self.timeoutMs)
      if failure == 0 { return nil }
      switch fb_network_reach_kind(failure) {
      case FB_REACH_REFUSED: return .refused
      case FB_REACH_NO_ROUTE: return .noRoute
      case FB_REACH_NO_ANSWER: return .noAnswer
      default: return .other(SystemError(code: failure, operation: "connect").reason)
      }
    }

    private func askSRT(_ target: String) -> NetworkFault.Cause? {
      // SAFETY: the texts are read during the call.
      let code = unsafe fb_srt_ask(
        target, address.port, secret?.text, address.value(of: "streamid"), Self.timeoutMs)
      guard code > 0 else { return nil }
      switch fb_srt_reason(code) {
      case FB_SRT_BAD_SECRET: return .wrongPassphrase
      case FB_SRT_UNSECURE: return secret == nil ? .missingPassphrase : .needlessPassphrase
      case FB_SRT_NO_ANSWER: return .noAnswer
      case FB_SRT_UNAUTHORIZED: return .unauthorized(hasSecret: secret != nil)
      case FB_SRT_FORBIDDEN: return .forbidden
      case FB_SRT_NOT_FOUND: return .noStream
      case FB_SRT_BUSY: return .busy
      default: return .other("the listener refuses the connection, by SRT's reason \(code)")
      }
    }

    private func distrust() -> String? {
      // SAFETY: the text that is returned is a constant.
      unsafe fb_network_distrust(address.host, address.port, UInt32(Self.timeoutMs / 1000))
        .map { unsafe String(cString: $0) }
    }
  }

  extension ReportedFailure {
    /// `GST_RESOURCE_ERROR_NOT_AUTHORIZED` and `GST_RESOURCE_ERROR_NOT_FOUND`.
    fileprivate var isRefusal: Bool { code == 15 }
    fileprivate var isNotFound: Bool { code == 3 }
  }
#endif
