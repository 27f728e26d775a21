import ArgumentParser
import Broadcast
import CommandLineSupport
import CredentialStore
import SharedDefaults

/// What `framebus broadcast start` passes to the extension.
struct SetupOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Title of the broadcast.", valueName: "text"))
  var title: String?
  @Option(
    help: ArgumentHelp(
      "Value for the extension: KEY=TEXT or KEY:TYPE=VALUE.",
      discussion: """
        TYPE is one of those of `framebus defaults write`: quality:int=3, \
        places:json='["a", "b"]'. Other users can see this command line; pass a secret on with \
        --setup-secret.
        """, valueName: "key=value"))
  var setupInfo: [String] = []
  @Option(
    help: ArgumentHelp(
      "Credential for the extension: KEY=SERVICE/ACCOUNT.",
      discussion: "`framebus credential set` stores it.", valueName: "key=name"))
  var setupSecret: [String] = []

  func validate() throws {
    var request = BroadcastRequest(extensionID: "", source: "")
    do { try set(in: &request) } catch { throw ValidationError("\(error)") }
  }

  /// Whether anything is passed on.
  var isEmpty: Bool { title == nil && setupInfo.isEmpty && setupSecret.isEmpty }

  func set(in request: inout BroadcastRequest) throws {
    request.title = title
    for text in setupInfo {
      let (name, value) = try Self.sides(of: text, "--setup-info")
      let parts = name.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      let (key, type) = (String(parts[0]), parts.count == 2 ? String(parts[1]) : "string")
      guard let kind = DefaultsWrite.Kind(rawValue: type) else {
        let kinds = DefaultsWrite.Kind.allCases.map(\.rawValue).joined(separator: ", ")
        throw UsageError("--setup-info \(name): there is no type “\(type)”; use \(kinds)")
      }
      let typed: DefaultsValue
      do { typed = try kind.value(value) } catch {
        throw UsageError("--setup-info \(key): \(error)")
      }
      if let secret = typed.secretKey(named: key) {
        throw UsageError(
          "--setup-info \(secret): this looks like a secret, which other users could see here;"
            + " store it with `framebus credential set SERVICE ACCOUNT`, and pass it on with"
            + " `--setup-secret \(key)=SERVICE/ACCOUNT`")
      }
      try Self.requireNew(key, request)
      request.setupInfo[key] = typed
    }
    for text in setupSecret {
      let (key, value) = try Self.sides(of: text, "--setup-secret")
      try Self.requireNew(key, request)
      request.setupSecrets[key] = try CredentialName(value)
    }
  }

  private static func sides(
    of text: String, _ option: String
  ) throws(UsageError) -> (key: String, value: String) {
    guard let equals = text.firstIndex(of: "="), equals > text.startIndex else {
      throw UsageError("\(option): “\(text)” has no name; write KEY=…")
    }
    return (key: String(text[..<equals]), value: String(text[text.index(after: equals)...]))
  }

  private static func requireNew(_ key: String, _ request: BroadcastRequest) throws(UsageError) {
    if request.setupInfo[key] != nil || request.setupSecrets[key] != nil {
      throw UsageError("the key \(key) is passed on twice; remove one")
    }
  }
}
