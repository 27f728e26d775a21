import Foundation
import Testing

/// The generated code of Wayland's protocols is what the scanner makes of their descriptions.
@Suite(.enabled(if: ProtocolScanner.isInstalled, "needs wayland-scanner: scripts/setup --test"))
struct ProtocolTests {
  private let folder = Repository.root + "/Sources/C/CWayland/Protocols"

  @Test(arguments: [("client-header", "client"), ("private-code", "code")])
  func generatedCodeIsCurrent(mode: String, suffix: String) throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
      .filter { $0.hasSuffix(".xml") }
    #expect(!names.isEmpty)
    for name in names {
      let made = try generate(mode, from: "\(folder)/\(name)")
      let kept = "\(folder)/\(name.dropLast(4))-\(suffix).inc"
      let text = try String(contentsOfFile: kept, encoding: .utf8)
      #expect(withoutVersion(made) == withoutVersion(text), "\(kept): see README.md beside it")
    }
  }

  @Test func eachProtocolHasItsLicence() throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: folder)
    where name.hasSuffix(".xml") {
      let text = try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
      #expect(text.contains("<copyright>") && text.contains("Permission"), "\(name)")
    }
  }

  private func generate(_ mode: String, from path: String) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: ProtocolScanner.path)
    process.arguments = ["-s", mode, path, "/dev/stdout"]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self)
  }

  /// The first line names the scanner's version.
  private func withoutVersion(_ text: String) -> Substring {
    text.drop { $0 != "\n" }
  }
}

private enum ProtocolScanner {
  static let path = "/usr/bin/wayland-scanner"
  static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: path) }
}
