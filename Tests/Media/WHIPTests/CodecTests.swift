#if Media
  import Foundation
  import TestSupport
  import Testing

  /// The codec of a WHIP upload, which the endpoint's answer decides.
  @Suite struct CodecTests {
    private let root: TemporaryRoot

    init() throws { root = try TemporaryRoot() }

    private func start(_ arguments: String...) throws -> RunningProgram {
      try RunningProgram(
        "framebus", arguments,
        environment: ["FRAMEBUS_HOME": root.path, "FRAMEBUS_GROUP": nil])
    }

    private func capture() throws -> RunningProgram {
      try start("capture", "test", "--size", "320x240")
    }

    /// An answer that refuses the section of H.264, or a status that refuses the offer.
    @Test func endpointThatLacksH264GetsTheNextCodec() throws {
      let server = try WebServer("whip_server.py", ["0", "codec=VP8"])
      let capture = try capture()
      let upload = try start("upload", "whip:\(server.address("whip"))")
      try server.waitForFrames(30)
      let result = try upload.end(with: SIGTERM)
      #expect(result.status == .exited(0), "\(result.errors)")
      let said = result.errors.components(separatedBy: "does not take H264: sending VP8 instead")
      #expect(said.count == 2 && !result.errors.contains("trying again"), "\(result.errors)")
      let odd = try WebServer("odd_web_server.py")
      let refused = try start("upload", "whip:\(odd.address("status/406"))").finish()
      #expect(refused.status == .exited(1) && refused.errors.contains("status 406"))
      for codec in ["H264", "VP8", "VP9"] {
        #expect(refused.errors.contains("does not take \(codec)"), "\(refused.errors)")
      }
      try capture.end(with: SIGTERM)
    }

    @Test func requestedCodecIsNotReplaced() throws {
      let server = try WebServer("whip_server.py", ["0", "codec=VP8"])
      let capture = try capture()
      let result = try start(
        "upload", "whip:\(server.address("whip"))", "--encoder", "h264"
      ).finish()
      #expect(result.status == .exited(1) && result.errors.contains("status 406"))
      #expect(!result.errors.contains("instead"), "\(result.errors)")
      try capture.end(with: SIGTERM)
    }

    /// It makes the constrained baseline profile, changes its bitrate and answers requests for key
    /// frames while it runs.
    @Test func openH264IsDecodedFollowsItsBitrateAndMakesKeyFramesOnRequest() throws {
      let server = try WebServer("whip_server.py", ["0", "pli=40", "remb=400000"])
      let capture = try capture()
      let upload = try start(
        "upload", "whip:\(server.address("whip"))", "--encoder", "openh264", "--verbose")
      try server.waitForFrames(130)
      try upload.waitForErrors("set the bitrate to")
      let result = try upload.end(with: SIGTERM)
      #expect(result.status == .exited(0), "\(result.errors)")
      #expect(!result.errors.contains("OpenH264"), "\(result.errors)")
      #expect(server.lines("key ").count >= 3, "\(server.lines("key "))")
      try capture.end(with: SIGTERM)
    }

    @Test func probeNamesTheEncoderAndWhyOthersAreNotUsed() throws {
      struct Probe: Decodable {
        struct Encoder: Decodable {
          var name: String
          var obstacle: String?
        }
        var encoders: [Encoder]
      }
      let server = try WebServer("whip_server.py", ["0", "codec=VP8"])
      let json = try start("whip", "probe", server.address("whip"), "--json").finish().output
      let encoders = try JSONDecoder().decode(Probe.self, from: Data(json.utf8)).encoders
      #expect(encoders.filter { $0.obstacle == nil }.map(\.name) == ["vp8"], "\(json)")
      let x264 = encoders.first { $0.name == "x264" }
      #expect(x264?.obstacle == "the endpoint does not take H264")
      let text = try start("whip", "probe", server.address("whip")).finish().output
      #expect(text.contains("encoder      vp8 (VP8)\n"), "\(text)")
    }
  }
#endif
