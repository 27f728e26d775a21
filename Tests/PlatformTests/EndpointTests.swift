import Foundation
import Platform
import TestSupport
import Testing

/// One process listens at a name, and who connects learns from the kernel which.
@Suite struct EndpointTests {
  private let root: TemporaryRoot
  private let endpoint: Endpoint

  init() throws {
    root = try TemporaryRoot()
    endpoint = Endpoint("door", in: root.path)
  }

  private func connect() throws(Endpoint.ConnectError) -> Bool {
    _ = try endpoint.connect { peer, file in
      peer.pid == getpid() && peer.uid == getuid() && file.kind == .socket
    }
    return true
  }

  private func names() throws -> Set<String> {
    Set(try FileManager.default.contentsOfDirectory(atPath: root.path))
  }

  @Test func oneProcessListensAtATime() throws {
    var steps: [Set<String>] = []
    let first = try endpoint.listen { steps.append((try? names()) ?? []) }
    #expect(steps == [["door.lock"]])
    #expect(try names() == ["door.lock", "door.sock"])
    #expect(try Endpoint.names(in: Directory(path: root.path)) == ["door"])
    #expect(throws: Endpoint.ListenError.taken) { _ = try endpoint.listen() }
    #expect(try connect())
    #expect(try first.accept() != nil)
    first.end()
    #expect(try names() == [])
    _ = try endpoint.listen()
    #expect(try names() == [])
  }

  @Test func listenerWhoseLockWasRemovedLeavesItsSuccessorAlone() throws {
    let first = try endpoint.listen()
    try FileManager.default.removeItem(atPath: root.file("door.lock"))
    let second = try endpoint.listen()
    first.end()
    #expect(try connect())
    second.end()
  }

  @Test func connectingFindsNoListener() throws {
    #expect(throws: Endpoint.ConnectError.absent) { try connect() }
    let elsewhere = Endpoint("door", in: root.file("missing"))
    #expect(throws: Endpoint.ConnectError.absent) {
      _ = try elsewhere.connect { _, _ in true }
    }
    // A socket that a killed process left.
    _ = try ListeningSocket(at: endpoint.socketPath, mode: 0o600)
    // A child that another test starts has the socket until it executes its program.
    try waitUntil("no process has the socket") {
      do throws(Endpoint.ConnectError) { return try !connect() } catch {
        return error == .absent
      }
    }
  }

  @Test func processThatIsNotAdmittedIsNamed() throws {
    let listener = try endpoint.listen()
    do throws(Endpoint.ConnectError) {
      _ = try endpoint.connect { _, _ in false }
      Issue.record("it was admitted")
    } catch {
      guard case .notAdmitted(let peer) = error, peer.pid == getpid() else {
        Issue.record("\(error)")
        return
      }
    }
    listener.end()
  }

  @Test func fullQueueIsNotAnAbsence() throws {
    let listener = try endpoint.listen()
    var waiting: [SharedSocket] = []
    do throws(Endpoint.ConnectError) {
      while waiting.count < 10_000 {
        waiting.append(SharedSocket(try endpoint.connect { _, _ in true }))
      }
      Issue.record("the queue has no end")
    } catch {
      guard case .busy(let file) = error, file.ownerID == getuid() else {
        Issue.record("\(error)")
        return
      }
    }
    listener.end()
  }

  @Test(arguments: [
    "ln -s PATH.other PATH.sock", "ln PATH.other PATH.sock", "mkfifo PATH.sock", "mkdir PATH.sock",
  ])
  func onlyASocketOfOneNameIsFollowed(_ command: String) throws {
    let listener = try endpoint.listen()
    let path = root.file("door")
    let line = "mv PATH.sock PATH.other; \(command)"
    try output(of: "sh", ["-c", line.replacingOccurrences(of: "PATH", with: path)])
    #expect(throws: Endpoint.ConnectError.notSocket(path: endpoint.socketPath)) { try connect() }
    listener.end()
  }

  @Test(arguments: ["mkdir PATH.sock", "mkdir PATH.sock.new", "mkdir PATH.lock"])
  func entryInTheWayIsNamedAndNothingIsLeft(_ command: String) throws {
    let path = root.file("door")
    try output(of: "sh", ["-c", command.replacingOccurrences(of: "PATH", with: path)])
    do throws(Endpoint.ListenError) {
      _ = try endpoint.listen()
      Issue.record("it listens")
    } catch {
      guard case .inTheWay(let found) = error else {
        Issue.record("\(error)")
        return
      }
      #expect(found.path.hasPrefix(path) && found.kind == .directory && found.hasWrongKind)
      #expect(found.ownerID == getuid())
    }
    #expect(try names().count == 1)
  }
}
