#if Media
  import Upload
  import WHIP

  extension PublicAddress {
    /// As messages show it: without what may be a key.
    var shown: String { String(text.dropLast(path.count)) + AddressKeys.shortened(in: path) }

    /// What no message may show.
    var keys: [String] { AddressKeys.found(in: path) }
  }
#endif
