import Confinement
import Platform
import WorkerSupport

// A host that starts one role and then does what the test wants: it waits, dies, or ends in order.
//
//   RoleHost bond=dies|outlives end=wait|return program=PATH [argument=TEXT]

let settings = Settings(CommandLine.arguments.dropFirst())
runWorker {
  var options = LaunchOptions(
    settings.text("program", "/usr/bin/sleep"), [settings.text("argument", "1000")])
  options.output = .null
  options.errors = .null
  let bond: Launcher.Bond = settings["bond"] == "outlives" ? .outlivesHost : .diesWithHost
  let role = try Launcher().start(options, confinement: nil, bond: bond)
  say("role \(role.processID)")
  if settings["end"] == "return" {
    role.leaveRunning()
  } else {
    sleep(until: .never)
  }
}
