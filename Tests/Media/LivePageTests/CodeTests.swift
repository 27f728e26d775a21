#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  @testable import LivePage

  /// The address as a QR code, read by another program (zbar).
  @Suite struct CodeTests {
    private let root: TemporaryRoot

    init() throws { root = try TemporaryRoot() }

    /// What a camera reads in the code, with dark letters on a light ground.
    private func read(_ text: String) throws -> String {
      let lines = text.split(separator: "\n").filter {
        $0.allSatisfy { " █▀▄".contains($0) }
      }
      let rows = lines.flatMap { line in
        ["█▀", "█▄"].map { dark in
          line.map { String(repeating: dark.contains($0) ? "1" : "0", count: 4) }.joined()
        }
      }
      let tall = rows.flatMap { Array(repeating: $0, count: 4) }
      let picture = "P1 \(tall.first?.count ?? 0) \(tall.count)\n" + tall.joined(separator: "\n")
      let path = root.file("code.pbm")
      try (picture + "\n").write(toFile: path, atomically: true, encoding: .utf8)
      return try output(of: "zbarimg", ["-q", "--raw", path]).trimmingCharacters(in: .newlines)
    }

    @Test func codesOfAnyLengthAreReadable() throws {
      for count in [1, 60, 200, 500] {
        let text = "https://example.com/" + String(repeating: "x", count: count)
        let code = try #require(QRCode(text))
        #expect(try read(code.lines.joined(separator: "\n")) == text)
      }
      #expect(QRCode(String(repeating: "x", count: 5000)) == nil)
    }

    /// The token is shown to cameras only if the user asks for that, or the proxy hides it.
    @Test func publicAddressIsDrawnOnRequest() throws {
      let address = "--public-url=https://live.example.com/live/"
      for (options, isDrawn) in [([address, "--qr"], true), ([address], false)] {
        let view = try ViewProgram(root, options)
        if isDrawn { try view.program.waitForErrors("https://live.example.com/live/") }
        let errors = try view.program.end(with: SIGTERM).errors
        #expect(errors.contains("█") == isDrawn)
        if isDrawn { #expect(try read(errors) == "https://live.example.com/live/") }
        #expect(!errors.contains(view.url) && !errors.contains("\u{1b}"))
      }
    }

    @Test(.enabled(if: getuid() == 0, "only root can make networks"))
    func codeHasAnAddressThatOthersReach() throws {
      let neighbour = try OwnNetwork()
      let network = try OwnNetwork(cabledTo: neighbour)
      let view = try ViewProgram(root, ["--listen=0.0.0.0", "--qr"], in: network)
      let expected = view.url.replacing("127.0.0.1", with: OwnNetwork.address)
      try view.program.waitForErrors(expected)
      let drawn = try read(view.program.errors.text)
      #expect(drawn == expected)
      // It is not an address of loopback: another machine opens it.
      let ask = ["-s", "-o", "/dev/null", "-w", "%{http_code}", drawn]
      #expect(try neighbour.start("curl", ask).finish().output == "200")
      try view.program.end(with: SIGTERM)
      // Without a network there is none, and on loopback none can be.
      let alone = try ViewProgram(root, ["--listen=0.0.0.0", "--qr"], in: try OwnNetwork())
      try alone.program.waitForErrors("no address that others reach")
      try alone.program.end(with: SIGTERM)
      let local = try root.framebus("view", "--qr").finish()
      #expect(local.status == .exited(2) && local.errors.contains("--listen"), "\(local.errors)")
    }
  }
#endif
