import AppGroup
import Foundation
import TestSupport
import Testing

@testable import CredentialStore
@testable import Platform

/// Hand-over of a role's key and leases from a parent to a child, in memory only.
@Suite struct HandOverTests {
  private let name = CredentialWorld.name
  private let get = "get whip.example.com studio"

  private func lease(_ text: String, _ expiresAtSeconds: Int64? = nil) throws -> CredentialLease {
    let name = try CredentialName(service: "turn.example.com", account: "studio")
    return try CredentialLease(
      name, secret(text), options: CredentialOptions(expiresAtSeconds: expiresAtSeconds))
  }

  @Test func childOpensItsRolesCredentialsWithoutAKeyFile() throws {
    let world = try CredentialWorld()
    try world.addShared()
    let handed = try world.store.handOver(to: .extension, leases: [lease("lent")])
    try FileManager.default.removeItem(atPath: world.path + "/keys/extension.key")
    let child = try HandedChild(world, handed: handed.descriptorNumber)
    #expect(try child.ask("take") == "extension")
    #expect(try child.ask(get) == "7 bytes")
    #expect(try child.ask("get turn.example.com studio") == "4 bytes")
    #expect(
      try child.ask("list") == "turn.example.com/studio session, whip.example.com/studio always")
    #expect(try child.ask("get x y").hasPrefix("error there is no credential x/y"))
    let log = try world.open().auditLog(of: .extension).map {
      "\($0.verb) \($0.name?.service ?? "")"
    }
    #expect(log == ["get whip.example.com", "get turn.example.com"])
  }

  @Test func roleWithoutGrantsGetsItsKeyAtTheHandOver() throws {
    let world = try CredentialWorld()
    let handed = try world.store.handOver(to: .capture)
    let child = try HandedChild(world, handed: handed.descriptorNumber)
    #expect(try child.ask("take") == "capture")
    #expect(try child.ask("list") == "")
    #expect(try world.store.roles() == [.capture, .host])
  }

  @Test func onlyTheHostHandsOverAndNotToItself() throws {
    let world = try CredentialWorld()
    try world.addShared()
    #expect(throws: CredentialError.self) { try world.open(.extension).handOver(to: .capture) }
    #expect(throws: CredentialError.self) { try world.store.handOver(to: .host) }
    #expect(throws: CredentialError.self) {
      try world.store.handOver(to: .extension, leases: [lease("a"), lease("b")])
    }
    #expect(throws: CredentialError.self) { try lease("") }
  }

  @Test func storedCredentialIsLentToANonRecipient() throws {
    let world = try CredentialWorld()
    try world.store.add(name, secret("token-1"))
    let handed = try world.store.handOver(to: .extension, leases: [world.store.lease(name)])
    let child = try HandedChild(world, handed: handed.descriptorNumber)
    #expect(try child.ask("take") == "extension")
    #expect(try child.ask(get) == "7 bytes")
    #expect(try world.store.attributes(of: name).accessibility == .always)
    #expect(throws: CredentialError.self) { try world.open(.extension).text() }
  }

  @Test func leasesEndWithTheSessionAndExpireBeforeIt() throws {
    let world = try CredentialWorld()
    try world.addShared()
    let handed = try world.store.handOver(
      to: .extension,
      leases: [
        lease("lent"), CredentialLease(name, secret("old"), options: .init(expiresAtSeconds: 1)),
      ])
    let child = try HandedChild(world, handed: handed.descriptorNumber)
    #expect(try child.ask("take") == "extension")
    #expect(try child.ask("get turn.example.com studio") == "4 bytes")
    #expect(try child.ask(get).hasPrefix("error the credential whip.example.com/studio expired"))
    handed.end()
    let ended = try child.ask("get turn.example.com studio")
    #expect(ended.hasPrefix("error the session of the credential turn.example.com/studio"))
    // A new session without the lease sees the store's credential of the same name again.
    #expect(try child.ask(get).contains("has ended"))
    let late = try HandedChild(world, handed: handed.descriptorNumber)
    #expect(try late.ask("take").hasPrefix("error the hand-over is no longer available"))
  }

  @Test func onlyOneProcessTakesAHandOver() throws {
    let world = try CredentialWorld()
    let handed = try world.store.handOver(to: .extension)
    let children = try (0..<4).map { _ in
      try HandedChild(world, handed: handed.descriptorNumber)
    }
    let answers = try children.map { try $0.ask("take") }
    #expect(answers.filter { $0 == "extension" }.count == 1, "\(answers)")
    #expect(answers.filter { $0.contains("has already taken") }.count == 3, "\(answers)")
  }

  @Test func malformedHandOversAreRefused() throws {
    let world = try CredentialWorld()
    let content: [UInt8] = [1, 0, 0, 0] + Array(repeating: 0, count: 1020)
    func memory(_ seals: MemoryFile.Seals, byteCount: Int = 1024) throws -> Int32 {
      let file = try MemoryFile(named: "test", byteCount: byteCount)
      // SAFETY: bytes have no padding.
      try file.initialize(from: unsafe content.span.bytes)
      try file.add(seals)
      return file.intoDescriptor().release()
    }
    let good: MemoryFile.Seals = [.size, .seals]
    let files = [
      try memory(good), try memory(.size), try memory(.seals), try memory([good, .writes]),
      try memory([good, .futureWrites]), try memory(good, byteCount: 3 << 20),
    ]
    defer { for number in files { _ = Descriptor(owning: number) } }
    let answers = try files.map { try HandedChild(world, handed: $0).ask("take") }
    #expect(answers[0].hasPrefix("error the hand-over is malformed"), "\(answers[0])")
    for answer in answers.dropFirst() {
      #expect(answer.hasPrefix("error the file descriptor 3 is not a hand-over"), "\(answer)")
    }
    let pipe = try OneWayPipe()
    #expect(
      try HandedChild(world, handed: pipe.readEnd.number).ask("take")
        .hasPrefix("error the file descriptor 3 is not a hand-over"))
    for value in ["x", "-1", "0", "99999999999", "77"] {
      let child = try HandedChild(
        "CredentialWorker", [world.root.path, CredentialWorld.groupName],
        environment: [HandOver.variable: value])
      #expect(try child.ask("take").hasPrefix("error "), "\(value)")
    }
  }

  /// A hand-over's bytes, truncated at each length and with each byte changed.
  @Test func truncationsAreRefusedAndChangesYieldConsistentValues() throws {
    let world = try CredentialWorld()
    let seed = try secret(String(repeating: "s", count: 32))
    let handed = try HandOver(
      seed, of: .extension, in: world.group.id, signer: world.store.signer,
      leases: [lease("lent"), CredentialLease(name, secret("other"))])
    let whole = try bytes(of: handed)
    for length in whole.indices {
      #expect(throws: CredentialError.self, "\(length) bytes") {
        _ = try parsed(Array(whole[..<length]))
      }
    }
    #expect(throws: CredentialError.self) { _ = try parsed(whole + [0]) }
    for index in whole.indices {
      for bit in [0, 7] {
        var changed = whole
        changed[index] ^= 1 << bit
        // Strings and secrets may have any content, but what is parsed is within the limits.
        if let count = try? parsed(changed) { #expect(count == 2, "byte \(index)") }
      }
    }
  }

  private func bytes(of handed: HandOver) throws -> [UInt8] {
    try Array(
      Data(contentsOf: URL(fileURLWithPath: "/proc/self/fd/\(handed.descriptorNumber)"))
    )
    .dropFirst(HandedMemory.start).map(\.self)
  }

  /// - Returns: the number of leases.
  private func parsed(_ bytes: [UInt8]) throws -> Int {
    let handed = try HandedOver(
      parsing: SecretBytes(copying: bytes), HandedMemory(named: "test", byteCount: 96))
    return handed.session.current().count
  }
}
