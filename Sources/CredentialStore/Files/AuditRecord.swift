import AppGroup
import Platform

/// A record of a role's log: process, user, action, credential and time, but never a secret. Each
/// record has the hash of the one before it and the role's signature.
public struct AuditRecord: Hashable, Sendable {
  public enum Verb: UInt8, Sendable {
    case add = 1
    case set, update, get, remove, grant, revoke
    case acceptRestore = 8
    /// Hand-over to a child process of a role's key or, with a name, of a lease.
    case handOver = 9
    case rotate, export, `import`
  }
  /// Whether the action succeeded, or why it failed.
  public enum Outcome: UInt8, Sendable {
    case done = 0
    case expired, notEntitled, tampered
  }

  public let sequence: UInt64
  public let atNs: UInt64
  public let processID: Int32
  public let uid: UInt32
  public let verb: Verb
  public let outcome: Outcome
  /// The newest generation of the store that the role had seen.
  public let generation: UInt64
  /// Nil for an action on the store as a whole.
  public let name: CredentialName?

  static let byteCount = 512
  private static let signedBytes = byteCount - Sodium.signatureBytes

  /// The encoded record, following one with the hash `previous`.
  func bytes(after previous: [UInt8], signing: borrowing SigningKey) -> [UInt8] {
    var writer = ByteWriter()
    writer.header(Format.auditMagic)
    writer.integer(uid)
    writer.integer(sequence)
    writer.integer(atNs)
    writer.integer(generation)
    writer.raw(previous)
    writer.integer(processID)
    writer.integer(verb.rawValue)
    writer.integer(outcome.rawValue)
    writer.text(name?.service ?? "")
    writer.text(name?.account ?? "")
    writer.zeros(upTo: Self.signedBytes)
    writer.raw(signing.signature(of: writer.bytes, domain: .audit))
    return writer.bytes
  }

  /// Parses a record, and verifies the role's signature and the hash `previous`, if there is one.
  init(parsing bytes: [UInt8], after previous: [UInt8]?, key: [UInt8]) throws(FormatError) {
    var parser = ByteParser(bytes)
    try parser.header(Format.auditMagic)
    guard bytes.count == Self.byteCount,
      Sodium.isSigned(
        bytes[..<Self.signedBytes], domain: .audit,
        signature: Array(bytes[Self.signedBytes...]), by: key)
    else { throw .wrong }
    uid = try parser.integer(UInt32.self)
    sequence = try parser.integer(UInt64.self)
    atNs = try parser.integer(UInt64.self)
    generation = try parser.integer(UInt64.self)
    let chained = try parser.raw(Sodium.hashBytes)
    if let previous, chained != previous { throw .wrong }
    processID = try parser.integer(Int32.self)
    guard let verb = Verb(rawValue: try parser.integer(UInt8.self)),
      let outcome = Outcome(rawValue: try parser.integer(UInt8.self))
    else { throw .newer }
    self.verb = verb
    self.outcome = outcome
    let service = try parser.text(atMost: CredentialName.maximumBytes)
    let account = try parser.text(atMost: CredentialName.maximumBytes)
    name = try? CredentialName(service: service, account: account)
  }

  init(
    sequence: UInt64, atNs: UInt64, processID: Int32, uid: UInt32, verb: Verb, outcome: Outcome,
    generation: UInt64, name: CredentialName?
  ) {
    self.sequence = sequence
    self.atNs = atNs
    self.processID = processID
    self.uid = uid
    self.verb = verb
    self.outcome = outcome
    self.generation = generation
    self.name = name
  }
}
