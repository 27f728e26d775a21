import Capture
import FrameBus
import Testing

/// What a user sets, what an extension prefers, and which windows no frame shows.
@Suite struct SettingsTests {
  private let rules = [try? WindowRule("one"), try? WindowRule("two")].compactMap(\.self)

  private func settings(_ values: [CaptureSettings.Option: String]) throws -> CaptureSettings {
    var settings = CaptureSettings()
    for (option, text) in values { try settings.set(option, text) }
    return settings
  }

  @Test(arguments: [
    (CaptureSettings.Option.fps, "30", "60"), (.size, "64x48", "32x24+1+1"),
    (.orientation, "1", "8"), (.cursor, "true", "false"), (.isolate, "false", "true"),
    (.backend, "shm", "socket"), (.force, "false", "true"), (.silence, "0", "5"),
    (.whileSaver, "inhibit", "pause"), (.content, "other", "screen"), (.secret, "a/b", "c/d"),
  ])
  func preferenceFillsWhatTheUserLeavesOpen(
    option: CaptureSettings.Option, own: String, preferred: String
  ) throws {
    let preferences = try settings([option: preferred])
    #expect(CaptureSettings().completed(by: preferences).text(of: option) == preferred)
    #expect(try settings([option: own]).completed(by: preferences).text(of: option) == own)
    #expect(try settings([option: own]).completed(by: CaptureSettings()).text(of: option) == own)
  }

  @Test func preferenceOnlyAddsToProtection() {
    let protections: [WindowProtection?] = [nil, .off, .on([]), .on([rules[0]])]
    for own in protections {
      for preferred in protections + [.on([rules[1]])] {
        var (settings, preferences) = (CaptureSettings(), CaptureSettings())
        settings.protection = own
        preferences.protection = preferred
        let all = settings.completed(by: preferences).protection
        switch (own, preferred) {
        case (.on(let own)?, .on(let preferred)?):
          let rules: [WindowRule] = if case .on(let rules)? = all { rules } else { [] }
          #expect(Set(rules) == Set(own + preferred) && rules.count == Set(rules).count)
        case (nil, .on(let preferred)?): #expect(all == .on(preferred))
        default: #expect(all == own, "\(String(describing: own)), \(String(describing: preferred))")
        }
      }
    }
  }

  /// A preference cannot make a valid command line invalid.
  @Test func preferenceForAnotherTransferYields() throws {
    let isolated = try settings([.isolate: "true"])
    let socket = try settings([.backend: "socket"])
    #expect(isolated.completed(by: socket) == isolated)
    #expect(socket.completed(by: isolated) == socket)
    #expect(throws: CaptureOptionError.isolatedSocket) {
      try settings([.isolate: "true", .backend: "socket"]).check()
    }
  }

  /// A mistyped ID is not taken for a name, in a rule or in a source.
  @Test(arguments: ["0x", "0X", "0xg", "0x+1", "0x1ffffffff", "0", "4294967296"])
  func malformedIDIsNotTakenForAName(text: String) {
    #expect(WindowID(text) == .malformed)
    #expect(throws: CaptureOptionError.badWindow(text)) { try WindowRule(text) }
    #expect(throws: SourceSpecificationError.badWindow(text)) { try WindowSelector(text) }
  }

  @Test func idIsWrittenInHexadecimalOrDecimalDigits() throws {
    for text in ["0x2a00007", "0X2A00007", "44040199"] {
      #expect(WindowID(text) == .id(0x2a00007))
      #expect(try WindowSelector(text) == .id(0x2a00007))
    }
    for name in ["", "x2a", "2a", "00x1", "٣", "1 2"] { #expect(WindowID(name) == nil) }
  }

  @Test(arguments: ["", "a b", "\u{1b}[2J"])
  func malformedRuleIsRefused(text: String) {
    #expect(throws: CaptureOptionError.badWindow(text)) { try WindowRule(text) }
  }

  @Test func rulesAreLimited() throws {
    _ = try WindowRule.list(Array(repeating: "a", count: WindowRule.maximumCount))
    _ = try WindowRule(String(repeating: "a", count: WindowRule.maximumBytes))
    #expect(throws: CaptureOptionError.self) {
      try WindowRule.list(Array(repeating: "a", count: WindowRule.maximumCount + 1))
    }
    #expect(throws: CaptureOptionError.self) {
      try WindowRule(String(repeating: "a", count: WindowRule.maximumBytes + 1))
    }
  }
}
