import AppGroup
import CredentialStore
import RingKit
import SubjectKit

// CredentialStore as a subject of `framebus bench credential`.

/// `BusCredential publish DIRECTORY key=value…`, see RingKit.h. DIRECTORY is the root of a group.
@main
struct Program {
  static func main() { runSubject(run) }

  private static func run() throws {
    let job = ringJob(measuring: "CredentialStore")
    let names = try (0..<job.pointee.credentials).map { number in
      let digits = String(number)
      let zeros = String(repeating: "0", count: max(0, 6 - digits.count))
      return try CredentialName(service: "s\(zeros)\(digits).example.com", account: "studio")
    }
    let group = try job.openGroup()
    let store = try CredentialStore.create(in: group)
    let byteCount = job.pointee.bytes
    let secret = try SecretBytes(copying: Array(repeating: 7, count: byteCount))
    try store.add(names, secret, options: CredentialOptions())
    guard let run = ring_begin_publishing(job) else { return }
    var number = 0
    while ring_next(run) {
      if job.pointee.lists {
        let count = try CredentialStore.open(in: group, as: .host).list().count
        precondition(count == names.count, "\(count) credentials of \(names.count)")
      } else if job.pointee.opens {
        let name = names[number % names.count]
        let opened = try CredentialStore.open(in: group, as: .host).get(name)
        precondition(opened.byteCount == byteCount, "\(opened.byteCount) bytes of \(byteCount)")
        number += 1
      } else {
        // A different one each time, in turn.
        let opened = try store.get(names[number % names.count])
        precondition(opened.byteCount == byteCount, "\(opened.byteCount) bytes of \(byteCount)")
        number += 1
      }
    }
    ring_report_publishing(run)
  }
}
