#if Media
  /// The page, with its placeholders filled in.
  struct PageText: Sendable {
    /// One picture on the page.
    struct Card: Sendable {
      /// Where the page posts its offer, relative to itself.
      let path: String
      let title: String
      let hasSound: Bool

      static func streams(title: String, hasSound: Bool) -> Card {
        Card(path: "whep", title: title, hasSound: hasSound)
      }

      fileprivate var html: String {
        "<section data-path=\"\(path)\" data-sound=\"\(hasSound ? "yes" : "no")\" "
          + "data-title=\"\(PageText.escaped(title))\"></section>"
      }
    }

    private let text: String

    init(_ cards: [Card]) {
      text = String(decoding: PackageResources.page_html, as: UTF8.self)
        .replacing("{{cards}}", with: cards.map(\.html).joined())
    }

    /// The page, and a content security policy that allows only its own script and style.
    func make() -> (page: String, policy: String) {
      let nonce = "\(PageToken())"
      let policy =
        "default-src 'none'; script-src 'nonce-\(nonce)'; style-src 'nonce-\(nonce)'; "
        + "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
      return (text.replacing("{{nonce}}", with: nonce), policy)
    }

    fileprivate static func escaped(_ text: String) -> String {
      text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(
        "\"", with: "&quot;")
    }
  }
#endif
