import AppGroup
import Platform

/// A record of a role's log: process, user, action, credential and time, but never a secret. Each
/// record has the hash of the one before it and the role's signature.
public struct AuditRecord: Hashable, Sendable {
  /// What was tried.
  public enum Verb: UInt8, Sendable {
    /// A credential was created.
    case add = 1
    /// A credential was created or replaced.
    case set
    /// A credential's secret was replaced.
    case update
    /// A credential was opened.
    case get
    /// A credential was removed.
    case remove
    /// A role was added to those that can open a credential.
    case grant
    /// A role was removed from those that can open a credential.
    case revoke
    /// An older store was accepted.
    case acceptRestore = 8
    /// Hand-over to a child process of a role's key or, with a name, of a lease.
    case handOver = 9
    /// A key was replaced.
    case rotate
    /// Credentials were exported.
    case export
    /// Credentials were imported.
    case `import`
  }
  /// Whether the action succeeded, or why it failed.
  public enum Outcome: UInt8, Sendable {
    /// It succeeded.
    case done = 0
    /// The credential had expired.
    case expired
    /// The role or the user has no permission.
    case notEntitled
    /// A file was changed after it was written.
    case tampered
  }

  /// The number of the record, which counts from 1.
  public let sequence: UInt64
  /// The time, in nanoseconds since 1970.
  public let atNs: UInt64
  /// The process.
  public let processID: Int32
  /// The user of the process.
  public let uid: UInt32
  /// What was tried.
  public let verb: Verb
  /// How it ended.
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
