#if Media
  import Upload
  import WHIP

  extension PublicAddress {
    /// As messages show it: without what may be a key.
    var shown: String { String(text.dropLast(path.count)) + AddressKeys.shortened(in: path) }

    /// What no message may show.
    var keys: [String] { AddressKeys.found(in: path) }
  }

  extension String {
    func without(_ secrets: [String]) -> String {
      secrets.filter { !$0.isEmpty }.reduce(self) { $0.replacing($1, with: "…") }
    }
  }
#endif
