import AppGroup
import CredentialStore
import Platform
import RingKit

// CredentialStore as a subject of `framebus bench credential`.

/// `BusCredential publish PLACE key=value…`, as RingKit.h says. PLACE is the root of a group.
@main
struct Program {
  static func main() {
    do { try run() } catch {
      try? writeFully(Array("error: \(error)\n".utf8), to: 2)
      exitProcess(1)
    }
  }

  private static func run() throws {
    let job = ring_job_from(CommandLine.argc, CommandLine.unsafeArgv)
    ring_say_version("CredentialStore")
    // For as long as the process lives: runs point to it.
    let kept = UnsafeMutablePointer<ring_job>.allocate(capacity: 1)
    kept.initialize(to: job)
    let group = try AppGroup.open(.local, root: String(cString: job.place))
    let names = try (0..<job.credentials).map { number in
      let digits = String(number)
      let zeros = String(repeating: "0", count: max(0, 6 - digits.count))
      return try CredentialName(service: "s\(zeros)\(digits).example.com", account: "studio")
    }
    let store = try CredentialStore.create(in: group)
    let secret = try SecretBytes(copying: Array(repeating: 7, count: job.bytes))
    try store.add(names, secret, options: CredentialOptions())
    guard let run = ring_begin_publishing(kept) else { return }
    var number = 0
    while ring_next(run) {
      if job.lists {
        let count = try CredentialStore.open(in: group, as: .host).list().count
        precondition(count == names.count, "\(count) credentials of \(names.count)")
      } else {
        // Another one each time, as far as there are any.
        let opened = try store.get(names[number % names.count])
        precondition(opened.byteCount == job.bytes, "\(opened.byteCount) bytes of \(job.bytes)")
        number += 1
      }
    }
    ring_report_publishing(run)
  }
}
