import AppGroup
import Platform

/// A role's key and leases that a parent hands over to a child process at its start. They are only
/// in memory, behind an inherited descriptor (docs/design/sealed-file.md has the format).
///
/// The child inherits the descriptor and finds its number in the environment variable ``variable``.
/// It takes the contents once, with ``HandedOver``. The session ends with this object: contents
/// that were not taken are wiped, and leases can no longer be opened. If the parent is killed, the
/// session continues in the child.
public final class HandOver: Sendable {
  /// The environment variable that holds the descriptor's number, and nothing else.
  public static let variable = "FRAMEBUS_HANDED_FD"

  private let memory: HandedMemory

  /// The state of a hand-over.
  enum Turn {
    static let offered: UInt32 = 1
    static let taken: UInt32 = 2
    static let ended: UInt32 = 3
  }

  init(
    _ seed: borrowing SecretBytes, of role: Role, in group: GroupID, signer: [UInt8],
    leases: [CredentialLease]
  ) throws(CredentialError) {
    let open = Self.openBytes(of: role, in: group, signer: signer, leases: leases)
    let byteCount = HandedMemory.start + open.count + Self.secretByteCount(leases)
    do {
      memory = try HandedMemory(named: "framebus-handed", byteCount: byteCount)
    } catch {
      throw error.operation == "mlock"
        ? .memoryNotLockable(byteCount: byteCount) : CredentialError(error)
    }
    var offset = HandedMemory.start
    // SAFETY: bytes have no padding.
    memory.write(unsafe open.span.bytes, at: offset)
    offset += open.count
    seed.withBytes { memory.write($0, at: offset) }
    offset += seed.byteCount
    for lease in leases {
      lease.secret.withBytes { memory.write($0, at: offset) }
      offset += lease.secret.byteCount
    }
    memory.setWord(Turn.offered)
  }

  /// The descriptor that the child inherits. It stays open here and has close-on-exec set.
  public var descriptorNumber: Int32 { memory.descriptorNumber }

  /// Ends the session. Copies that the child made stay with the child.
  public func end() {
    memory.setWord(Turn.ended)
    memory.wipe()
  }

  deinit { end() }

  /// The part that is not secret.
  private static func openBytes(
    of role: Role, in group: GroupID, signer: [UInt8], leases: [CredentialLease]
  ) -> [UInt8] {
    var writer = ByteWriter()
    writer.integer(UInt32(secretByteCount(leases)))
    writer.header(Format.handedMagic)
    writer.text(role.rawValue)
    writer.text(group.description)
    writer.raw(signer)
    writer.integer(UInt8(leases.count))
    for lease in leases {
      writer.attributes(lease.attributes(for: role))
      writer.integer(UInt32(lease.secret.byteCount))
    }
    return writer.bytes
  }

  private static func secretByteCount(_ leases: [CredentialLease]) -> Int {
    leases.reduce(RoleKeys.seedBytes) { $0 + $1.secret.byteCount }
  }
}

extension CredentialStore {
  /// Offers the key of a role, and leases, to a child process. Only the host can do it. A role
  /// without a key gets one now, which can only be handed over.
  /// - Parameters:
  ///   - leases: at most 16, with distinct names.
  ///   - passphrase: the passphrase of the role's key, if it has one.
  public func handOver(
    to role: Role, leases: [CredentialLease] = [], passphrase: borrowing SecretBytes? = nil
  ) throws(CredentialError) -> HandOver {
    try requireHost()
    if role == .host { throw .invalid("the host hands over to other roles, not to itself") }
    guard leases.count <= Format.maximumLeases,
      Set(leases.map(\.attributes.name)).count == leases.count
    else {
      throw .invalid("there can be at most \(Format.maximumLeases) leases, with distinct names")
    }
    let head = try head()
    if head.roles[role] == nil {
      try change(.handOver, nil) { draft throws(CredentialError) in
        _ = try publicKey(of: role, &draft.index, newIn: .handOver)
      }
    } else {
      try log(.handOver, .done, nil, generation: head.generation)
    }
    let seed = try seed(of: role, passphrase: passphrase)
    for lease in leases {
      try log(.handOver, .done, lease.attributes.name, generation: head.generation)
    }
    return try HandOver(seed, of: role, in: group.id, signer: signer, leases: leases)
  }

  /// Opens a credential to lend it to a role that is not one of its recipients.
  public func lease(_ name: CredentialName) throws(CredentialError) -> CredentialLease {
    CredentialLease(try attributes(of: name), try get(name))
  }
}
