import TestSupport
import Testing

@testable import SharedDefaults

/// A key that names a secret is refused, and the error has the command that seals it.
@Suite struct SecretTests {
  @Test(arguments: [
    "whipBearer", "token", "API_KEY", "apiKey", "userAPIKey", "private-key", "turn.password",
    "clientSecret", "Authorization", "otp", "sessionCookie", "STREAMKEY",
  ])
  func keyThatLooksSecretIsRefusedWithTheCommandThatSealsIt(_ key: String) throws {
    let world = try DefaultsWorld()
    let defaults = try world.open()
    let error = try #require(throws: DefaultsError.self) {
      try defaults.set("hunter2", forKey: key)
    }
    #expect(
      error
        == .secret(
          key: key, sealWith: "framebus credential set suite \(key) --group org.example.test"))
    #expect(!error.description.contains("hunter2"))
    #expect(defaults.value(forKey: key) == nil)
    #expect(throws: DefaultsError.self) { try defaults.set(["inner": [key: "x"]], forKey: "a") }
    #expect(try defaults.refresh() == 0)
  }

  @Test(arguments: [
    "whipURL", "keyboard", "monkey", "tokenizer", "bear", "secretary", "fps", "keyframeInterval",
  ])
  func keyThatOnlyResemblesASecretIsSet(_ key: String) throws {
    let world = try DefaultsWorld()
    let defaults = try world.open()
    try defaults.set("plain", forKey: key)
    #expect(defaults.string(forKey: key) == "plain")
  }

  @Test func declarationsOverrideTheRule() throws {
    let world = try DefaultsWorld()
    let defaults = try SharedDefaults(
      suiteName: "suite", in: world.group, secretKeys: ["stream"], plainKeys: ["tokenCount"])
    try defaults.set(12, forKey: "tokenCount")
    #expect(throws: DefaultsError.self) { try defaults.set("x", forKey: "stream") }
    #expect(throws: DefaultsError.self) { try world.open().set(13, forKey: "tokenCount") }
  }

  @Test func secretThatWasWrittenByAnotherProgramCanBeRemoved() throws {
    let world = try DefaultsWorld()
    try SharedDefaults(suiteName: "suite", in: world.group, plainKeys: ["token"])
      .set("x", forKey: "token")
    try world.open().removeObject(forKey: "token")
    #expect(try world.open().storedValues().isEmpty)
  }

  @Test func unusualKeyIsQuotedInTheCommand() throws {
    #expect(
      try SecretKeys.command(
        for: "it's a token", suite: SuiteName("s"), group: .local)
        == "framebus credential set s 'it'\\''s a token' --group group.local.framebus")
  }
}
