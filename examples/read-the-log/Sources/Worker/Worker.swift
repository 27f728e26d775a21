import AppGroup
import SharedLog

/// Works until it trips over a mistake of its own and traps. It neither closes its log nor waits
/// for it: there is no time for that.
@main struct Worker {
  static func main() throws {
    let log = try SharedLog.open(AppGroup.open(.local), role: .extension)
    let shares = [3, 2, 1, 0]
    for (number, share) in shares.enumerated() {
      log.append(
        .info, "dividing", label: "worker",
        metadata: [LogField("step", "\(number + 1)"), LogField("by", "\(share)")])
      print(60 / share)
    }
  }
}
