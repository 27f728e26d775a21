import AppGroup
import Foundation
import SharedLog

/// Starts `Worker`, waits until it dies, and reads its last lines from the group's log.
@main struct Host {
  static func main() {
    do { try host() } catch {
      FileHandle.standardError.write(Data("error: \(error)\n".utf8))
      exit(1)
    }
  }

  static func host() throws {
    let group: AppGroup
    do { group = try AppGroup.open(.local) } catch { group = try AppGroup.create(.local) }
    let worker = Process()
    worker.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
      .deletingLastPathComponent().appending(path: "Worker")
    worker.standardError = FileHandle.nullDevice
    try worker.run()
    worker.waitUntilExit()
    print("the worker was ended by signal \(worker.terminationStatus); its last log lines:")

    let reader = try LogReader(group)
    while let entry = try reader.next() {
      guard case .line(let line) = entry, line.run.pid == UInt32(worker.processIdentifier) else {
        continue
      }
      let details = line.metadata.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
      print("  \(line.sequence). \(line.message) \(details)")
    }
  }
}
