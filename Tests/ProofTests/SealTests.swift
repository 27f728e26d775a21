import AppGroup
import FrameBus
import Platform
import TestSupport
import Testing

/// All known ways around the seals, tried by another user's member of the group (`HostileMember
/// seals`), and the kernel's answer to each.
@Suite(.enabled(if: TestUser.canBeCreated, "users can only be created by root"))
struct SealTests {
  @Test func aMemberFindsNoWayAroundTheSeals() throws {
    let root = try TemporaryRoot(mode: 0o755)
    let user = try TestUser()
    let id = try GroupID("org.example.seals")
    _ = try AppGroup.create(id, root: root.path)
    try AppGroup.grant(.extension, to: .user(user.uid), in: id, root: root.path)
    let group = try AppGroup.open(id, root: root.path)
    let stream = try StreamName("screen")
    var publisher = try Publisher(
      stream, in: group, format: try .video(.xrgb8888, width: 64, height: 16))
    var subscriber = try Subscriber(stream, in: group)
    try publishFilled(&publisher, with: 0x5a)
    guard let lease = try subscriber.poll() else { throw HarnessError("no frame to guard") }

    let attacker = try user.start(
      "HostileMember", ["seals", "\(group.streamsPath)/\(stream).sock"])
    let result = try attacker.finish()
    #expect(result.output.hasSuffix("all tried\n"), "\(result.output)\(result.errors)")
    let answers = try result.output.split(separator: "\n").dropLast().map(Answer.init)
    for answer in answers {
      let expected = answer.expected
      #expect(expected.contains(answer.kernel), "\(answer.target) \(answer.attempt)")
    }
    for attempt in Answer.ofMemory.keys where !Answer.mayBeMissing.contains(attempt) {
      let targets = answers.filter { $0.attempt == attempt }.map(\.target)
      #expect(Set(targets).isSuperset(of: ["board", "pool"]), "\(attempt) was not tried")
    }
    #expect(answers.count { $0.target == "publisher" } == Answer.ofPublisher.count)
    let isWhole = isFilled(lease, with: 0x5a)
    #expect(isWhole)
    try publishFilled(&publisher, with: 0xa5)
  }

  private func publishFilled(_ publisher: inout Publisher, with byte: UInt8) throws {
    var loan = try publisher.loan()
    var bytes = loan.bytes
    for offset in 0..<bytes.byteCount {
      bytes.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
    }
    loan.publish()
  }

  private func isFilled(_ lease: borrowing FrameLease, with byte: UInt8) -> Bool {
    // SAFETY: the pointer is not used after the closure.
    unsafe lease.withUnsafeBytes { bytes in unsafe bytes.allSatisfy { $0 == byte } }
  }
}

/// One line of the attacker's output: the attempt and the kernel's answer.
private struct Answer {
  let target: Substring
  let attempt: String
  let kernel: Substring

  init(_ line: Substring) throws {
    let words = line.split(separator: " ")
    guard words.count == 3 else { throw HarnessError("a line of no answer: \(line)") }
    (target, attempt, kernel) = (words[0], String(words[1]), words[2])
  }

  /// The kernel's allowed answers; more than one if kernels differ.
  var expected: [Substring] {
    switch target {
    case "publisher": Self.ofPublisher[attempt] ?? []
    // The page is its own: it may write the page, but neither punch holes nor shrink it.
    case "page" where attempt == "madvise-remove-own": ["EPERM"]
    default: Self.ofMemory[attempt] ?? []
    }
  }

  /// On board and pool, whose memory is the publisher's alone.
  static let ofMemory: [String: [Substring]] = [
    "mmap-shared-writable": ["EPERM"], "write": ["EPERM"], "pwritev2": ["EPERM"],
    "shrink": ["EPERM"], "grow": ["EPERM"], "fallocate-grow": ["EPERM"],
    "fallocate-punch": ["EPERM"], "fallocate-zero": ["EOPNOTSUPP", "EPERM"],
    "fallocate-collapse": ["EOPNOTSUPP", "EPERM"], "add-seals": ["EPERM"], "chmod": ["EPERM"],
    // A private writable file description would be useful only if writing were not sealed.
    "reopen": ["done", "EACCES"], "reopened-write": ["EPERM"], "reopened-mmap": ["EPERM"],
    "reopen-truncating": ["EPERM"],
    "mprotect": ["EACCES"], "madvise-remove": ["EACCES"],
    "madvise-populate-write": ["EINVAL", "EFAULT"],
    "read-into": ["EFAULT"], "futex-wake-op": ["EFAULT"], "futex-lock-pi": ["EFAULT"],
    "process_vm_writev-self": ["EFAULT"], "proc-self-mem": ["EIO", "EFAULT"],
    "mremap-copy": ["done"], "mremap-mprotect": ["EACCES"],
    // A private copy, invisible to others.
    "mmap-private": ["done"], "mmap-private-seen-by-others": ["EACCES"],
    "madvise-remove-private": ["EACCES", "EINVAL"],
    "userfaultfd": ["done", "EPERM", "ENOSYS"], "userfaultfd-register": ["EPERM"],
    "userfaultfd-copy": ["ENOENT"],
    "splice-into": ["EPERM"], "vmsplice": ["done"], "splice-from": ["done"],
    "pipes-seen-by-others": ["EACCES"],
    "third-party-mmap": ["EPERM"], "third-party-write": ["EPERM"],
  ]
  static let mayBeMissing: Set = [
    "reopened-write", "reopened-mmap", "reopen-truncating", "userfaultfd-register",
    "userfaultfd-copy",
  ]

  /// On the publisher's process. A process of the same user may do all of this: members that do not
  /// trust each other must be different users.
  static let ofPublisher: [String: [Substring]] = [
    "ptrace": ["EPERM"], "proc-mem": ["EACCES"], "proc-fd": ["EACCES"], "proc-maps": ["EACCES"],
    "process_vm_writev": ["EPERM"], "pidfd_getfd": ["EPERM"],
    "process_madvise": ["EACCES", "EPERM", "ENOSYS"], "kill": ["EPERM"],
  ]
}
