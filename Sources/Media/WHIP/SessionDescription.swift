/// The kind of media of a section.
public enum MediaKind: String, Hashable, Sendable {
  case audio
  case video
}

/// The parts of a session description (RFC 8866) that this module needs. The engine reads the rest.
public struct SessionDescription: Hashable, Sendable {
  /// A media section.
  public struct Media: Hashable, Sendable {
    /// The line after `m=`.
    public var line: String
    /// The name of the section (RFC 5888).
    public var mid = ""
    public var attributes: [String] = []

    /// `audio`, `video` …
    public var kind: String { line.split(separator: " ").first.map(String.init) ?? "" }
    /// A port of 0 refuses the section.
    public var isAccepted: Bool {
      line.split(separator: " ").dropFirst().first.map { $0 != "0" } ?? false
    }
    /// Whether its author would receive media through it.
    public var receives: Bool {
      isAccepted && !attributes.contains("sendonly") && !attributes.contains("inactive")
    }
    /// Whether its author would send media through it.
    var sends: Bool {
      isAccepted && !attributes.contains("recvonly") && !attributes.contains("inactive")
    }
    /// The names of its codecs, such as `H264`, each once.
    public var codecs: [String] {
      var found: [String] = []
      for attribute in attributes where attribute.hasPrefix("rtpmap:") {
        guard
          let name = attribute.split(separator: " ").dropFirst().first?.split(separator: "/")
            .first
        else { continue }
        if !found.contains(String(name)) { found.append(String(name)) }
      }
      return found
    }
    func value(of name: String) -> String? { Self.value(of: name, in: attributes) }

    static func value(of name: String, in attributes: [String]) -> String? {
      attributes.first { $0.hasPrefix(name + ":") }.map { String($0.dropFirst(name.count + 1)) }
    }
  }

  public private(set) var attributes: [String] = []
  public private(set) var media: [Media] = []

  private static let maximumMedia = 64

  /// Parses a text and skips unknown lines.
  public init(_ text: String) {
    for line in text.split(whereSeparator: \.isNewline) {
      if line.hasPrefix("m=") {
        if media.count == Self.maximumMedia { return }
        media.append(Media(line: String(line.dropFirst(2))))
      } else if line.hasPrefix("a=") {
        let attribute = String(line.dropFirst(2))
        if media.isEmpty {
          attributes.append(attribute)
        } else {
          if attribute.hasPrefix("mid:") {
            media[media.count - 1].mid = String(attribute.dropFirst(4))
          }
          media[media.count - 1].attributes.append(attribute)
        }
      }
    }
  }

  /// - Returns: nil if a server's text is not a session description.
  init?(answer text: String) {
    guard text.drop(while: \.isWhitespace).hasPrefix("v=0") else { return nil }
    self.init(text)
    if media.isEmpty { return nil }
  }

  var acceptsMedia: Bool { media.contains(where: \.receives) }

  /// The media of an offer that this answer refuses. An answer has the sections of its offer, in
  /// the same order (RFC 3264, section 6).
  func refused(of offer: SessionDescription) -> [MediaKind] {
    offer.media.indices.compactMap { index in
      let isTaken = media.indices.contains(index) && media[index].receives
      return isTaken ? nil : MediaKind(rawValue: offer.media[index].kind)
    }
  }

  /// An attribute of the session or, as in a bundle, of the first section that has it.
  public func value(of name: String) -> String? {
    Media.value(of: name, in: attributes) ?? media.lazy.compactMap { $0.value(of: name) }.first
  }

  /// The offer with another SHA-256 fingerprint (RFC 8122) in all its sections.
  public static func naming(fingerprint: String, in offer: String) -> String {
    offer.split(separator: "\r\n", omittingEmptySubsequences: false).map { line in
      line.hasPrefix("a=fingerprint:") ? "a=fingerprint:sha-256 " + fingerprint : String(line)
    }.joined(separator: "\r\n")
  }
}
