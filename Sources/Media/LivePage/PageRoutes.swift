#if Media
  import WHIP

  /// The requests of a browser and their answers:
  ///
  /// ```text
  /// GET    /TOKEN/             the page; HEAD as well
  /// GET    /TOKEN/figures      the server's current figures; HEAD as well
  /// POST   /TOKEN/whep         an offer → 201, the answer, Location and ETag
  /// PATCH  /TOKEN/whep/VIEWER  candidates
  /// DELETE /TOKEN/whep/VIEWER  the end
  /// ```
  ///
  /// `stream/NAME` takes the place of `whep`, and `figures/NAME` that of `figures`, for another
  /// stream that viewers may choose.
  ///
  /// `remote/NUMBER` takes the place of `whep` for an endpoint on another server; there HEAD tells
  /// that the viewer is still present, because its media do not come here.
  struct PageRoutes: Sendable {
    let token: PageToken
    let text: PageText
    /// Nil if the page shows only endpoints on other servers.
    let service: (any ViewerService)?
    /// The current figures, as one line of JSON.
    let figures: @Sendable () -> String
    /// Nil if viewers have no choice.
    var choices: (any StreamChoices)?
    var remotes: [RemoteEndpoint] = []

    static let offerType = "application/sdp"
    static let candidateType = "application/trickle-ice-sdpfrag"

    func answer(_ request: PageRequest) -> PageAnswer {
      do throws(PageRefusal) {
        try text.access.check(request)
        return try route(request)
      } catch {
        return PageAnswer(error)
      }
    }

    private func route(_ request: PageRequest) throws(PageRefusal) -> PageAnswer {
      let parts = request.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
      guard let given = parts.first, token.equals(given) else {
        throw PageRefusal(
          403, "the address lacks its token; use the one that `framebus view` printed")
      }
      switch parts.dropFirst().map(String.init) {
      case []:
        return PageAnswer(308, [("Location", "\(token)/")])
      case [""]:
        try allow(["GET", "HEAD"], request)
        return page()
      case ["figures"]:
        try allow(["GET", "HEAD"], request)
        return PageAnswer(200, [("Content-Type", "application/json")], figures())
      case let rest where rest.count == 2 && rest[0] == "figures":
        guard let figures = choices?.figures(of: rest[1]) else { throw PageRefusal.noStream }
        try allow(["GET", "HEAD"], request)
        return PageAnswer(200, [("Content-Type", "application/json")], figures)
      case let rest where (1...2).contains(rest.count) && rest[0] == "whep":
        return try serve(service, rest, request)
      case let rest where (2...3).contains(rest.count) && rest[0] == "stream":
        guard let service = choices?.service(of: rest[1]) else { throw PageRefusal.noStream }
        return try serve(service, Array(rest.dropFirst()), request)
      case let rest where (2...3).contains(rest.count) && rest[0] == "remote":
        return try relay(Array(rest.dropFirst()), request)
      default:
        throw PageRefusal.notFound
      }
    }

    func allow(_ methods: [String], _ request: PageRequest) throws(PageRefusal) {
      if methods.contains(request.method) { return }
      let list = methods.joined(separator: ", ")
      var refusal = PageRefusal(405, "use \(list)")
      refusal.allowed = list
      throw refusal
    }

    private func page() -> PageAnswer {
      let (page, policy) = text.make()
      return PageAnswer(
        200,
        [
          ("Content-Type", "text/html; charset=utf-8"), ("Content-Security-Policy", policy),
          ("Cross-Origin-Opener-Policy", "same-origin"),
        ] + text.access.frameOptions, page)
    }

    // MARK: WHEP

    /// - Parameter parts: the last part of the path at which viewers are admitted, and perhaps one.
    private func serve(
      _ service: (any ViewerService)?, _ parts: [String], _ request: PageRequest
    ) throws(PageRefusal) -> PageAnswer {
      guard parts.count > 1 else {
        try allow(["POST"], request)
        let offer = try body(request, of: Self.offerType)
        guard let service else { throw PageRefusal.notFound }
        let viewer: AdmittedViewer
        do throws(ViewerRefusal) {
          viewer = try service.admit(offer, at: request.localAddress)
        } catch {
          throw PageRefusal(error)
        }
        return created(viewer, at: "\(parts[0])/\(viewer.name)")
      }
      try allow(["PATCH", "DELETE"], request)
      if request.method == "PATCH" {
        let fragment = try fragment(request, for: parts[1])
        return try answer(service?.add(fragment, to: parts[1]) ?? .unknownViewer)
      }
      guard service?.remove(parts[1]) == true else { throw PageRefusal.noViewer }
      return PageAnswer(200)
    }

    /// - Parameter location: relative, so that it is also valid behind a proxy with another path.
    func created(_ viewer: AdmittedViewer, at location: String) -> PageAnswer {
      PageAnswer(
        201,
        [
          ("Content-Type", Self.offerType), ("Location", location),
          ("ETag", "\"\(viewer.name)\""), ("Accept-Patch", Self.candidateType),
        ], viewer.answer)
    }

    /// The candidates in a request.
    func fragment(
      _ request: PageRequest, for name: String
    ) throws(PageRefusal) -> CandidateFragment {
      let text = try body(request, of: Self.candidateType)
      guard ["", "*", "\"\(name)\""].contains(request.ifMatch) else {
        throw PageRefusal(412, "If-Match names another session")
      }
      guard let fragment = CandidateFragment(text) else { throw PageRefusal.noFragment }
      return fragment
    }

    func answer(_ outcome: CandidateOutcome) throws(PageRefusal) -> PageAnswer {
      switch outcome {
      case .taken: return PageAnswer(204)
      case .unknownViewer: throw PageRefusal.noViewer
      case .tooMany: throw PageRefusal(429, "too many candidates")
      case .otherSession:
        throw PageRefusal(422, "ICE cannot be restarted in this session; post a new offer")
      }
    }

    func body(_ request: PageRequest, of type: String) throws(PageRefusal) -> String {
      let given = request.contentType.prefix { $0 != ";" && $0 != " " }.lowercased()
      guard given == type else { throw PageRefusal(415, "send \(type)") }
      guard !request.isTooLarge else { throw PageRefusal(413, "the body is too large") }
      guard let text = request.body else { throw PageRefusal(400, "the body is not UTF-8") }
      return text
    }
  }

  extension PageRefusal {
    init(_ refusal: ViewerRefusal) {
      let status =
        switch refusal {
        case .malformed: 400
        case .noCommonCodec: 406
        case .full: 503
        case .engineFailed: 500
        }
      self.init(status, "\(refusal)")
    }
  }
#endif
