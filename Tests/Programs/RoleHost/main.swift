import AppGroup
import Confinement
import CredentialStore
import Platform
import WorkerSupport

// A host that starts one role, prints its confinement, and waits for its end.
//
//   RoleHost [role=none|capture|extension root=DIR] [bond=dies|outlives] [end=wait|return]
//            [display=NAME] [memory=MiB] [grant=PATH] [render-nodes=DIR] PROGRAM… after --

let words = CommandLine.arguments.dropFirst()
let end = words.firstIndex(of: "--") ?? words.endIndex
let settings = Settings(words[..<end])
let command = Array(words[end...].dropFirst())

func confinement() throws -> Confinement? {
  guard let role = settings["role"], role != "none" else { return nil }
  let group = try AppGroup.open(GroupID("a.b"), root: settings["root"])
  var result = Confinement.capture(in: group, display: settings["display"])
  if role == "extension" {
    result = .extension(in: group)
    result.grants += CredentialStore.grants(for: .extension, in: group)
    result.variables.append(HandOver.variable)
  }
  if settings["memory"] != nil { result.memoryBytes = UInt64(settings.number("memory", 0)) << 20 }
  if let path = settings["grant"] { result.grants.append(.init(.write, path)) }
  if let folder = settings["render-nodes"] { result.grantRenderNodes(in: folder) }
  return result
}

runWorker {
  let program = command.first ?? "/usr/bin/true"
  var options = LaunchOptions(
    program.contains("/") ? program : siblingProgram(named: program) ?? program,
    Array(command.dropFirst()))
  // A hand-over of credentials, which is passed on.
  if let number = environmentValue(HandOver.variable).flatMap({ Int32($0) }) {
    options.inherited = [number]
  }
  if settings["end"] == "return" {
    options.output = .null
    options.errors = .null
  }
  let role = try Launcher().start(
    options, confinement: confinement(),
    bond: settings["bond"] == "outlives" ? .outlivesHost : .diesWithHost)
  for measure in role.measures {
    say("measure \(measure.name) \(measure.isOn ? "on" : "off") \(measure.detail)")
  }
  say("role \(role.processID)")
  if settings["end"] == "return" { return role.leaveRunning() }
  if let ending = role.wait() { say("ended \(ending)") }
}
