import AppGroup
import CredentialStore
import GroupSemaphores
import NotifyCenter
import Platform
import SharedDefaults
import SharedLog
import TestSupport
import Testing

/// What a group shares besides frames, from C to Swift.
@Suite struct GroupTests {
  @Test func whatCWritesAndPostsSwiftReads() throws {
    try withWatchdog {
      let world = try CWorld()
      let result = try run(world.library.program("Group"), [world.root.path, CWorld.groupName])
      #expect(result.status == .exited(0), "\(result.output)\(result.errors)")
      let settings = try SharedDefaults(in: world.group)
      #expect(settings.value(forKey: "bitrate") == .integer(-4_000_000_000))
      #expect(settings.value(forKey: "mirror") == .bool(true))
      #expect(settings.value(forKey: "gain") == .double(0.5))
      #expect(settings.value(forKey: "raw") == .data([97, 0, 98]))
      #expect(settings.value(forKey: "title") == nil)
      let center = try NotifyCenter(world.group, role: .host)
      let name = try NotificationName("org.example.a")
      #expect(try center.generation(of: name) == 2)
      #expect(try center.state(of: name) == 7)
      let gpu = try SemaphoreName("gpu")
      #expect(throws: SemaphoreFileError.unknown(gpu)) {
        try GroupSemaphore.open(gpu, in: world.group)
      }
      #expect(try lines(of: world.group).map(\.message) == ["written from C"])
      let line = try #require(try lines(of: world.group).first)
      #expect(line.level == .error && line.label == "c")
      #expect(line.metadata.map(\.key) == ["frames", "server"])
      #expect(line.metadata.map(\.isPrivate) == [false, true])
    }
  }

  @Test func aCredentialIsReadableUntilItIsClosed() throws {
    try withWatchdog {
      let world = try CWorld()
      let store = try CredentialStore.create(in: world.group)
      try store.add(
        CredentialName(service: "whip", account: "me"), SecretBytes(copying: Array("s3cret".utf8)))
      let result = try run(
        world.library.program("Group"), [world.root.path, CWorld.groupName, "whip", "me"])
      #expect(result.status == .exited(0), "\(result.output)\(result.errors)")
      #expect(result.output.contains("secret s3cret\n"))
    }
  }

  private func lines(of group: AppGroup) throws -> [LogRecord] {
    let reader = try LogReader(group)
    var lines: [LogRecord] = []
    while let entry = try reader.next() {
      if case .line(let line) = entry { lines.append(line) }
    }
    return lines
  }
}
