#if Media
  import Capture
  import FrameBus
  import Platform
  import WHIP

  /// Reads a playlist from its server.
  extension HLSRendition {
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
      return chosen.kilobitsPerSecond
    }

    private static let notPlaylist = "the server's answer is not a playlist; check the path"

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
