#if Media
  /// A request, copied from the server's memory.
  struct PageRequest: Sendable {
    var method = "GET"
    var path = "/"
    var host = ""
    var origin = ""
    var contentType = ""
    var ifMatch = ""
    var localAddress = ""
    /// Nil if it is not UTF-8.
    var body: String? = ""
    var isTooLarge = false
  }

  /// The answer to a request.
  struct PageAnswer {
    /// Headers of every answer: no caching, no type sniffing, no referrer, no use by other origins.
    private static let always = [
      ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"),
      ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Resource-Policy", "same-origin"),
    ]

    let status: Int
    let headers: [(name: String, value: String)]
    let body: String

    init(_ status: Int, _ headers: [(String, String)] = [], _ body: String = "") {
      self.status = status
      self.headers = Self.always.map { ($0, $1) } + headers
      self.body = body
    }

    init(_ refusal: PageRefusal) {
      let kind = ("Content-Type", "text/plain; charset=utf-8")
      let allowed = refusal.allowed.isEmpty ? [] : [("Allow", refusal.allowed)]
      self.init(refusal.status, [kind] + allowed, refusal.why + "\n")
    }
  }

  /// Why a request is refused.
  struct PageRefusal: Error {
    let status: Int
    let why: String
    /// The methods that the path allows.
    var allowed = ""

    init(_ status: Int, _ why: String) {
      self.status = status
      self.why = why
    }

    static let notFound = PageRefusal(404, "not found")
    static let noStream = PageRefusal(404, "this page does not show that stream")
    static let noViewer = PageRefusal(404, "there is no such viewer")
    static let noFragment = PageRefusal(
      400, "the body is not a fragment of a session description (RFC 8840)")
  }
#endif
