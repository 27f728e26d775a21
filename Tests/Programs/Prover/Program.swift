import AppGroup
import FrameBus
import Platform
import TestSupport
import WorkerSupport

/// Fault injection: proves that the frame bus survives its processes. `Prover PART key=value…`.
///
/// Checking parts: `crash` (dies at every crash point), `soak` (random kills and stops), `siege`
/// (hostile members), `cycles` (resources after many). Checked parts: `publish`, `subscribe`.
/// A failure is printed on standard error, with exit status 1.
@main
struct Program {
  static func main() {
    do { try run() } catch {
      try? writeFully(Array("\(error)\n".utf8), to: 2)
      exitProcess(1)
    }
  }

  private static func run() throws {
    let part = CommandLine.arguments.dropFirst().first ?? ""
    let settings = Settings(CommandLine.arguments.dropFirst(2))
    switch part {
    case "publish": try publishProof(settings)
    case "subscribe": try subscribeProof(settings)
    case "crash": try CrashProof(settings).run()
    case "soak": try Soak(settings).run()
    case "siege": try Siege(settings).run()
    case "cycles": try Cycles(settings).run()
    default: throw ProofError("no part “\(part)”")
    }
  }
}

extension Settings {
  func text(_ key: String) throws -> String {
    guard let text = self[key] else { throw ProofError("say \(key)=…") }
    return text
  }

  func world() throws -> ProofWorld {
    try ProofWorld(rootPath: try text("root"), stream: try text("stream"))
  }

  func role() throws -> Role {
    guard let role = Role(rawValue: try text("role")) else {
      throw ProofError("no role \(try text("role"))")
    }
    return role
  }
}
