#if Media
  import WHIP

  /// The secret for another machine.
  public struct NetworkSecret: Sendable {
    /// Whose password it is.
    let user: String
    /// A passphrase, a key or a password, as GStreamer takes it; empty for a bearer token.
    let text: String
    let bearer: BearerToken?

    public init(user: String, text: String) {
      self.user = user
      self.text = text
      bearer = nil
    }

    public init(_ bearer: BearerToken?) {
      user = ""
      text = ""
      self.bearer = bearer
    }
  }
#endif
