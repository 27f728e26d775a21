import AppGroup
import CredentialStore
import Platform
import WorkerSupport

/// A child that a key is handed over to, and that a test talks to: `CredentialWorker ROOT GROUP`.
/// It answers each line of its standard input with one line: `take`, `get SERVICE ACCOUNT`, `list`,
/// `end`. It never says a secret, which would then lie in memory that is not protected.
@main
struct Program {
  static func main() { runWorker(run) }

  private static func run() throws {
    guard CommandLine.arguments.count == 3 else { fatalError("usage: CredentialWorker ROOT GROUP") }
    let group = try AppGroup.open(
      GroupID(CommandLine.arguments[2]), root: CommandLine.arguments[1])
    var store: CredentialStore?
    var count = 0
    while let line = readLine() {
      count += 1
      let answer: String
      do { answer = try answered(line.split(separator: " "), group, &store) } catch {
        answer = "error \(error)"
      }
      say("answer \(count) \(answer)")
    }
  }

  private static func answered(
    _ words: [Substring], _ group: AppGroup, _ store: inout CredentialStore?
  ) throws -> String {
    if words == ["take"] {
      guard let handed = try HandedOver.takeInherited() else { return "nothing" }
      let opened = try CredentialStore.open(in: group, handed: handed)
      store = opened
      return "\(opened.role)"
    }
    guard let store else { return "no store" }
    switch words.first {
    case "get":
      let name = try CredentialName(service: String(words[1]), account: String(words[2]))
      return "\(try store.get(name).byteCount) bytes"
    case "list":
      return try store.list().map { "\($0.name) \($0.accessibility)" }.joined(separator: ", ")
    case "end":
      store.endSession()
      return "ended"
    default: return "no such verb"
    }
  }
}
