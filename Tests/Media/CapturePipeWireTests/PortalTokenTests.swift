import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

/// The token with which a choice is restored.
@Suite(.enabled(if: PipeWireSession.isAvailable, "\(PipeWireSession.need)"))
struct PortalTokenTests {
  @Test func userIsAskedOnceAndAgainWhenTheTokenIsRevoked() throws {
    try withWatchdog {
      let world = try PortalWorld()
      let portal = try world.portal()
      let producer = try world.producer()
      defer {
        portal.end()
        producer.end()
      }
      func captureOnce() throws {
        let capture = try world.capture("--frames", "2")
        var subscriber = try world.subscriber()
        try subscriber.take { $0.number != nil }
        #expect(try capture.finish().status == .exited(0), "\(capture.transcript)")
      }
      func asked() -> [String] {
        portal.program.output.text.split(separator: "\n").map(String.init)
          .filter { $0.hasPrefix("dialog") || $0 == "restored" }.map { String($0.prefix(6)) }
      }
      try captureOnce()
      try captureOnce()
      // A portal takes the token back with each use, and gives another one.
      try captureOnce()
      #expect(asked() == ["dialog", "restor", "restor"])
      let list = try output(
        of: "framebus",
        ["credential", "list", "--root", world.root.path, "--group", "org.example.test"])
      #expect(list.contains("portal") && list.contains("screen"), "\(list)")
      try portal.tell("revoke")
      try portal.program.waitForOutput("done revoke")
      try captureOnce()
      try captureOnce()
      #expect(asked().suffix(2) == ["dialog", "restor"])
      // A portal that cannot even read it is asked as if there was none.
      try portal.tell("fault bad-token")
      try portal.program.waitForOutput("done fault bad-token")
      try captureOnce()
      #expect(asked().last == "dialog")
    }
  }

  /// A token that is too long is ignored, and no file has one in the clear.
  @Test func tokensAreSealedAndBounded() throws {
    try withWatchdog {
      let world = try PortalWorld()
      let portal = try world.portal("long-token")
      let producer = try world.producer()
      defer {
        portal.end()
        producer.end()
      }
      for fault in ["long-token", ""] {
        try portal.tell("fault \(fault)")
        let capture = try world.capture("--frames", "1")
        var subscriber = try world.subscriber()
        try subscriber.take { $0.number != nil }
        #expect(try capture.finish().status == .exited(0), "\(capture.transcript)")
        let tokens = try portalTokens(portal)
        let found = try plainFiles(below: world.root.path).contains { name in
          let bytes = try Data(contentsOf: URL(fileURLWithPath: world.root.file(name)))
          return tokens.contains { bytes.range(of: Data($0.utf8)) != nil }
        }
        #expect(!found)
      }
      #expect(!portal.program.output.text.contains("restored"))
    }
  }

  /// The tokens that the portal has given so far.
  private func portalTokens(_ portal: CommandedProgram) throws -> [String] {
    let lines = portal.program.output.text.split(separator: "\n")
    let tokens = lines.filter { $0.hasPrefix("token ") }.map { String($0.dropFirst(6)) }
    #expect(!tokens.isEmpty)
    return tokens
  }
}
