import Platform
import TestSupport
import Testing

@testable import NotifyCenter

@Suite struct NameTests {
  @Test func namesHaveOneToFiveHundredAndTwelveBytesOfText() throws {
    for text in ["a", "ä ö/ü", String(repeating: "x", count: 512), "user.uid.0", "user.uidx"] {
      #expect(try NotificationName(text).text == text)
    }
    for text in ["", String(repeating: "x", count: 513), "a\0b", "user.uid.", "user.uid.x.y"] {
      let error = #expect(throws: NotifyError.self) { try NotificationName(text) }
      #expect(error?.status == 1)
    }
  }

  @Test func namesThatLookEqualButDifferInBytesAreDifferent() throws {
    #expect(try name("caf\u{e9}") != name("cafe\u{301}"))
  }

  @Test func prefixesDetermineTheScopeOfAName() throws {
    #expect(try name("self.a").scope == .process)
    #expect(try name("framebus.stream.a").scope == .system)
    #expect(try name("user.uid.1000.a").scope == .user(1000))
    #expect(try name("user.uid.1000").scope == .user(1000))
    #expect(try name("selfish").scope == .group)
    #expect(try name("framebus").scope == .group)
  }

  @Test func invalidNamesAreRefusedWithTheStatusOfNotifyH() throws {
    let world = try NotifyWorld()
    let another = try name("user.uid.\(currentUserID() + 1).a")
    #expect(throws: NotifyError.self) { try world.center.post("framebus.stream.a") }
    #expect(throws: NotifyError.self) { try world.center.observe(another) { _ in } }
    let error = #expect(throws: NotifyError.self) { try world.center.post(another) }
    #expect(error?.status == 7)
    let system = try NotifyCenter(world.group, role: .host, isSystem: true)
    #expect(try system.post("framebus.stream.a") == 1)
    #expect(try world.center.generation(of: name("framebus.stream.a")) == 1)
    #expect(try world.center.post("user.uid.\(currentUserID()).a") == 1)
    #expect(throws: NotifyError.self) { try world.center.observe(name("a"), bySignal: 9) }
    #expect(throws: NotifyError.self) { try world.center.observe(name("a"), bySignal: 65) }
  }
}
