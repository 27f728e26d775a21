import AppGroup
import Foundation
import SharedLog

/// Works until its own bug makes it trap, with no chance to close or flush its log.
@main struct Worker {
  static func main() {
    do { try work() } catch {
      FileHandle.standardError.write(Data("error: \(error)\n".utf8))
      exit(1)
    }
  }

  static func work() throws {
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
