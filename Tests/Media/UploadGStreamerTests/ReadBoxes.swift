import Foundation

/// The boxes of a fragmented MP4 file, and the rules of RFC 8216, section 3.3, that it breaks.
struct ReadBoxes {
  struct Box {
    let path: String
    let content: Data
  }

  private(set) var boxes: [Box] = []
  private(set) var isWhole = true

  private static let containers = [
    "moov", "trak", "mdia", "minf", "stbl", "mvex", "moof", "traf",
  ]

  init(_ bytes: Data) { read(bytes, in: "") }

  private mutating func read(_ bytes: Data, in parent: String) {
    var rest = bytes
    while !rest.isEmpty {
      let size = rest.number(at: 0, count: 4)
      guard rest.count >= 8, (8...rest.count).contains(size) else {
        isWhole = false
        return
      }
      let type = String(decoding: rest.dropFirst(4).prefix(4), as: UTF8.self)
      let path = parent.isEmpty ? type : "\(parent)/\(type)"
      let content = Data(rest.dropFirst(8).prefix(size - 8))
      boxes.append(Box(path: path, content: content))
      if Self.containers.contains(type) { read(content, in: path) }
      rest = rest.dropFirst(size)
    }
  }

  private func contents(_ path: String) -> [Data] {
    boxes.filter { $0.path == path }.map(\.content)
  }

  private var topLevel: [String] { boxes.map(\.path).filter { !$0.contains("/") } }

  /// The number of tracks in an initialization section.
  var trackCount: Int { contents("moov/trak").count }

  var brokenInSection: [String] {
    var broken: [String] = []
    if !isWhole || topLevel != ["ftyp", "moov"] { broken.append("is ftyp and moov: \(topLevel)") }
    let brands = contents("ftyp").first.map { String(decoding: $0, as: UTF8.self) } ?? ""
    if !brands.contains("iso6") { broken.append("has a brand of iso6 or higher") }
    if contents("moov/mvhd").first?.number(at: 16, count: 4) != 0 {
      broken.append("has a movie duration of 0")
    }
    let inMovie = boxes.map(\.path).filter { $0.split(separator: "/").count == 2 }
    if trackCount == 0 || inMovie.last != "moov/mvex" {
      broken.append("has mvex after the last track")
    }
    if contents("moov/mvex/trex").count != trackCount { broken.append("has a trex a track") }
    for name in ["stts", "stsc", "stco"] {
      let counts = contents("moov/trak/mdia/minf/stbl/\(name)").map { $0.number(at: 4, count: 4) }
      if counts != Array(repeating: 0, count: trackCount) { broken.append("has samples: \(name)") }
    }
    return broken
  }

  var brokenInSegment: [String] {
    var broken: [String] = []
    if !isWhole || topLevel != ["moof", "mdat"] { broken.append("is moof and mdat: \(topLevel)") }
    let tracks = contents("moof/traf").count
    let headers = contents("moof/traf/tfhd").map { $0.number(at: 1, count: 3) }
    if tracks == 0 || headers.count != tracks || !headers.allSatisfy({ $0 & 0x020000 != 0 }) {
      broken.append("has default-base-is-moof in each track: \(headers)")
    }
    if headers.contains(where: { $0 & 1 != 0 }) { broken.append("has an absolute address") }
    if !runsFillData { broken.append("has data that no run names") }
    if contents("moof/traf/tfdt").count != tracks { broken.append("has a decode time a track") }
    return broken
  }

  /// The samples' sizes of all runs are those of the data.
  var runsFillData: Bool {
    let sizes = contents("moof/traf/trun").map { run in
      (0..<run.number(at: 4, count: 4)).reduce(0) { $0 + run.number(at: 16 + 12 * $1, count: 4) }
    }
    return contents("mdat").first?.count == sizes.reduce(0, +)
  }
}

extension Data {
  /// A big-endian number.
  fileprivate func number(at offset: Int, count: Int) -> Int {
    dropFirst(offset).prefix(count).reduce(0) { $0 << 8 | Int($1) }
  }
}
