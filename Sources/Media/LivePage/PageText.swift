#if Media
  /// The page, with its placeholders filled in.
  struct PageText: Sendable {
    /// One picture on the page.
    struct Card: Sendable {
      /// Where the page posts its offer, relative to itself.
      let path: String
      /// The stream of the pictures, with which the title begins.
      let name: String
      let title: String
      let hasSound: Bool

      /// - Parameter title: the name of the stream of the pictures, and those of the sound.
      static func streams(title: String, hasSound: Bool) -> Card {
        Card(
          path: "whep", name: String(title.prefix { $0 != "," }), title: title, hasSound: hasSound)
      }

      fileprivate var html: String {
        let facts = [
          ("path", path), ("name", name), ("title", title), ("sound", hasSound ? "yes" : "no"),
        ]
        let attributes = facts.map { " data-\($0)=\"\(PageText.escaped($1))\"" }.joined()
        return "<section\(attributes)></section>"
      }
    }

    let access: PageAccess
    private let text: String

    init(_ cards: [Card], _ access: PageAccess = PageAccess()) {
      self.access = access
      text = String(decoding: PackageResources.page_html, as: UTF8.self)
        .replacing("{{style}}", with: String(decoding: PackageResources.page_css, as: UTF8.self))
        .replacing("{{script}}", with: String(decoding: PackageResources.page_js, as: UTF8.self))
        .replacing("{{cards}}", with: cards.map(\.html).joined())
    }

    /// The page, and a content security policy that allows only its own script and style.
    func make() -> (page: String, policy: String) {
      let nonce = "\(PageToken())"
      let policy =
        "default-src 'none'; script-src 'nonce-\(nonce)'; style-src 'nonce-\(nonce)'; "
        + "connect-src 'self'; base-uri 'none'; form-action 'none'; "
        + access.framePolicy
      return (text.replacing("{{nonce}}", with: nonce), policy)
    }

    fileprivate static func escaped(_ text: String) -> String {
      text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(
        "\"", with: "&quot;")
    }
  }
#endif
