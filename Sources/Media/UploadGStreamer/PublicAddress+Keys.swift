#if Media
  import Platform
  import Upload

  extension PublicAddress {
    /// The address for messages, without possible keys.
    var shown: String { String(text.dropLast(path.count)) + AddressKeys.shortened(in: path) }

    /// Texts that no message may show.
    var keys: [String] { AddressKeys.found(in: path) }
  }
#endif
