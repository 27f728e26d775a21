#if Media
  import WHIP

  /// Requests for endpoints on other servers.
  extension PageRoutes {
    /// - Parameter parts: the path after `remote`: the endpoint's number, and perhaps a session.
    func relay(_ parts: [String], _ request: PageRequest) throws(PageRefusal) -> PageAnswer {
      guard let number = Int(parts[0]), remotes.indices.contains(number) else {
        throw PageRefusal.notFound
      }
      let remote = remotes[number]
      guard parts.count > 1 else {
        try allow(["POST"], request)
        let offer = try body(request, of: Self.offerType)
        let viewer = try passing { () throws(WHIPError) in try remote.open(offer) }
        return created(viewer, at: "\(number)/\(viewer.name)")
      }
      try allow(["PATCH", "DELETE"], request)
      let isKnown: Bool
      if request.method == "DELETE" {
        isKnown = try passing { () throws(WHIPError) in try remote.remove(parts[1]) }
      } else {
        let text = try body(request, of: Self.candidateType)
        guard CandidateFragment(text) != nil else { throw PageRefusal.noFragment }
        isKnown = try passing { () throws(WHIPError) in try remote.add(text, to: parts[1]) }
      }
      guard isKnown else { throw PageRefusal.noViewer }
      return PageAnswer(request.method == "DELETE" ? 200 : 204)
    }

    /// Makes a request at an endpoint. Its failure has a gateway's status, because the endpoint's
    /// own would be taken for this server's, and the reason in words.
    private func passing<Value>(
      _ body: () throws(WHIPError) -> Value
    ) throws(PageRefusal) -> Value {
      do throws(WHIPError) { return try body() } catch {
        throw PageRefusal(error.isAnswer ? 502 : 504, error.forViewers)
      }
    }
  }
#endif
