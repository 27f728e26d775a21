/// The size in which a viewer shows the pictures, as its offer or a later fragment states it:
/// `a=imageattr:* recv [x=1170,y=658]` (RFC 6236).
public struct ShownSize: Hashable, Sendable {
  public let width: Int
  public let height: Int

  /// No picture is larger.
  private static let sides = 1...16_384

  /// - Parameter attribute: the line after `a=`.
  /// - Returns: nil if it is not such an attribute, or states no usable size to receive.
  public init?(attribute: some StringProtocol) {
    let words = String(attribute).split(separator: " ")
    guard words.count >= 3, words[0].hasPrefix("imageattr:"),
      let direction = words.firstIndex(of: "recv"), direction + 1 < words.count,
      words[direction + 1].first == "[", words[direction + 1].last == "]"
    else { return nil }
    var sides: [Substring: Int] = [:]
    for part in words[direction + 1].dropFirst().dropLast().split(separator: ",") {
      let pair = part.split(separator: "=")
      guard pair.count == 2, let side = Int(pair[1]) else { continue }
      sides[pair[0]] = side
    }
    guard let width = sides["x"], let height = sides["y"], Self.sides.contains(width),
      Self.sides.contains(height)
    else { return nil }
    (self.width, self.height) = (width, height)
  }

  /// The size in the first video section of a description that states one.
  public init?(in description: SessionDescription) {
    let attributes = description.media.filter { $0.kind == "video" }.flatMap(\.attributes)
    guard let size = attributes.lazy.compactMap({ ShownSize(attribute: $0) }).first else {
      return nil
    }
    self = size
  }
}
