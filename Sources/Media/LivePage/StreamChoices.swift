#if Media
  import WHIP

  /// The streams of this machine that viewers may choose in place of the page's first one. The
  /// figures of each name those that are present, for the page's list.
  public protocol StreamChoices: Sendable {
    /// - Returns: nil if the page may not show that stream.
    func service(of stream: String) -> (any ViewerService)?
    /// The current figures, as one line of JSON.
    /// - Returns: nil if the page may not show that stream.
    func figures(of stream: String) -> String?
  }
#endif
