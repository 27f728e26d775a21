import AppGroup
import Broadcast
import CommandLineSupport
import Platform
import SharedLog

/// The group's log of a demo's broadcast.
struct DemoLog {
  private let records: [LogRecord]

  init(of session: SessionID, in group: AppGroup) throws {
    let reader = try LogReader(group)
    var records: [LogRecord] = []
    while let entry = try reader.next() {
      if case .line(let record) = entry, record.run.session == session.text {
        records.append(record)
      }
    }
    self.records = records
  }

  /// The records of level notice and above, one line each, in order of time.
  var story: [String] {
    guard let begin = records.first?.monotonicNs else { return [] }
    return records.filter { $0.level >= .notice }.map { record in
      let seconds = Double((record.monotonicNs - begin) / 1_000_000) / 1000
      return "\(seconds)".padded(to: 8) + "\(record.run.role)".padded(to: 11) + record.message.plain
    }
  }

  /// A figure from the record that a role logged when it ended.
  func figure(_ key: String, of role: Role, in message: String) throws -> Double {
    let last = records.last { $0.run.role == role && $0.message == message }
    let value = last?.metadata.first { $0.key == key }.flatMap { Double($0.value) }
    guard let value else { throw DemoError.noFigure(key, role) }
    return value
  }
}
