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
        guard let viewer = try passing({ () throws(WHIPError) in try remote.open(offer) }) else {
          throw PageRefusal(ViewerRefusal.full(remote.maximumViewers))
        }
        return created(viewer, at: "\(number)/\(viewer.name)")
      }
      let name = parts[1]
      try allow(["PATCH", "DELETE", "HEAD"], request)
      if request.method == "PATCH" {
        let fragment = try fragment(request, for: name)
        let text = request.body ?? ""
        return try answer(
          passing { () throws(WHIPError) in try remote.add(text, fragment, to: name) })
      }
      let isKnown =
        request.method == "HEAD"
        ? remote.hear(name) : try passing { () throws(WHIPError) in try remote.remove(name) }
      guard isKnown else { throw PageRefusal.noViewer }
      return PageAnswer(200)
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
