#if Media
  /// The page, with its placeholders filled in.
  struct PageText: Sendable {
    private let text: String

    init(title: String, hasSound: Bool) {
      text = String(decoding: PackageResources.page_html, as: UTF8.self)
        .replacing("{{streams}}", with: Self.escaped(title))
        .replacing("{{sound}}", with: hasSound ? "yes" : "no")
    }

    /// The page, and a content security policy that allows only its own script and style.
    func make() -> (page: String, policy: String) {
      let nonce = "\(PageToken())"
      let policy =
        "default-src 'none'; script-src 'nonce-\(nonce)'; style-src 'nonce-\(nonce)'; "
        + "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
      return (text.replacing("{{nonce}}", with: nonce), policy)
    }

    private static func escaped(_ text: String) -> String {
      text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(
        "\"", with: "&quot;")
    }
  }
#endif
