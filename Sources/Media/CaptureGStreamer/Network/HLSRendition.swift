#if Media
  import FrameBus
  import Platform
  import WHIP

  /// A rendition that a master playlist offers (RFC 8216, section 4.3.4.2).
  struct HLSRendition: Hashable {
    let bitsPerSecond: Int
    /// Nil if the playlist does not say.
    let width, height: Int?

    private static let maximumCount = 256
    private static let maximumRedirects = 5
    private static let timeout = Duration.seconds(10)

    /// Reads the playlist, and chooses one of its renditions.
    /// - Parameter fault: makes the error of a cause.
    /// - Returns: a rate in kilobits a second up to which only this rendition and smaller ones are;
    ///   0 for a playlist without renditions.
    static func choose(
      from address: WebAddress, fitting size: PixelRect?, certificates: String?, stop: StopSignal,
      fault: (NetworkFault.Cause) -> PipelineError
    ) throws(PipelineError) -> UInt32 {
      let response: HTTPResponse
      do throws(HTTPError) {
        response = try read(address, certificates: certificates, stop: stop)
      } catch {
        if case .answerTooLarge = error { throw fault(.endpoint(notPlaylist)) }
        throw fault(.endpoint("\(error)"))
      }
      switch response.status {
      case 200: break
      case 404, 410: throw fault(.noStream)
      case 401, 403: throw fault(.forbidden)
      default:
        throw fault(.endpoint("the server answers with status \(response.status); see its log"))
      }
      let text = String(decoding: response.body, as: UTF8.self)
      guard text.hasPrefix("#EXTM3U") else { throw fault(.endpoint(notPlaylist)) }
      guard let chosen = choose(among: renditions(in: text), fitting: size) else { return 0 }
      return UInt32(clamping: chosen.bitsPerSecond / 1000 + 1)
    }

    private static let notPlaylist = "the server's answer is not a playlist; check the path"

    /// The largest that fits, or else the smallest; without a size, the one with the highest rate.
    static func choose(among all: [HLSRendition], fitting size: PixelRect?) -> HLSRendition? {
      let byRate = all.sorted { $0.bitsPerSecond < $1.bitsPerSecond }
      guard let size else { return byRate.last }
      let fitting = byRate.last { ($0.width ?? 0) <= size.width && ($0.height ?? 0) <= size.height }
      return fitting ?? byRate.first
    }

    static func renditions(in text: String) -> [HLSRendition] {
      var found: [HLSRendition] = []
      for line in text.split(whereSeparator: \.isNewline)
      where line.hasPrefix("#EXT-X-STREAM-INF:") && found.count < maximumCount {
        let values = attributes(line.dropFirst("#EXT-X-STREAM-INF:".count))
        guard let rate = values["BANDWIDTH"].flatMap({ Int($0) }), rate > 0 else { continue }
        let size = (values["RESOLUTION"] ?? "").split(separator: "x").map { Int($0) }
        let isKnown = size.count == 2 && size.allSatisfy { $0.map { $0 > 0 } ?? false }
        found.append(
          HLSRendition(
            bitsPerSecond: rate, width: isKnown ? size[0] : nil, height: isKnown ? size[1] : nil))
      }
      return found
    }

    /// A list of `NAME=VALUE`, in which quoted values may contain commas.
    private static func attributes(_ list: Substring) -> [String: String] {
      var result: [String: String] = [:]
      var rest = list
      while let equals = rest.firstIndex(of: "=") {
        let name = rest[..<equals].filter { $0 != "," && $0 != " " }
        rest = rest[rest.index(after: equals)...]
        let value: Substring
        if rest.first == "\"" {
          value = rest.dropFirst().prefix { $0 != "\"" }
          rest = rest.dropFirst(value.count + 2)
        } else {
          value = rest.prefix { $0 != "," }
          rest = rest.dropFirst(value.count)
        }
        result[String(name)] = String(value)
      }
      return result
    }

    private static func read(
      _ address: WebAddress, certificates: String?, stop: StopSignal
    ) throws(HTTPError) -> HTTPResponse {
      let client = try CurlClient(certificates: certificates)
      let deadline = Deadline.after(timeout)
      var request = HTTPRequest(.get, address)
      var response = try client.send(request, until: deadline, stop: stop)
      for _ in 0..<maximumRedirects {
        guard (300..<400).contains(response.status),
          let next = response.value(of: "Location").flatMap(request.address.resolving),
          next.isEncrypted || !address.isEncrypted
        else { break }
        request.address = next
        response = try client.send(request, until: deadline, stop: stop)
      }
      return response
    }
  }
#endif
