import AppGroup
import Platform

/// The key and leases that a parent handed over to this process (see ``HandOver``).
public struct HandedOver: ~Copyable, Sendable {
  /// The role whose key was handed over.
  public let role: Role
  let group: String
  let key: RoleKey
  let session: Session

  /// The size of the smallest hand-over: no lease, and the shortest names.
  private static let minimumBytes = 96

  /// Takes the hand-over whose descriptor is in the environment variable ``HandOver/variable``.
  /// - Returns: nil if the variable is not set.
  public static func takeInherited() throws(CredentialError) -> HandedOver? {
    guard let text = environmentValue(HandOver.variable) else { return nil }
    guard let number = Int32(text) else {
      throw .invalid("\(HandOver.variable)=\(text) is not the number of a file descriptor")
    }
    return try HandedOver(takingFrom: number)
  }

  /// Takes the hand-over behind a descriptor and wipes it there. From then on other processes
  /// cannot read this process's memory.
  /// - Throws: ``CredentialError/invalid(_:)`` if there is no hand-over, it is incomplete, or
  ///   another process has taken it.
  public init(takingFrom number: Int32) throws(CredentialError) {
    try CredentialError.attempt(keepMemoryPrivate())
    let memory = try Self.memory(number)
    guard memory.replaceWord(HandOver.Turn.offered, with: HandOver.Turn.taken) else {
      throw .invalid(
        memory.word == HandOver.Turn.taken
          ? "another process has already taken the hand-over; start this program again"
          : "the hand-over is no longer available: the session has ended")
    }
    let count = memory.byteCount - HandedMemory.start
    let whole = try SecretBytes(capacity: count) { span throws(CredentialError) in
      memory.read(into: &span)
      return count
    }
    memory.wipe()
    self = try HandedOver(parsing: whole, memory)
  }

  /// - Parameter whole: a copy of the shared memory.
  init(
    parsing whole: borrowing SecretBytes, _ memory: consuming HandedMemory
  ) throws(CredentialError) {
    do {
      self = try Self.parsed(whole, memory)
    } catch let error as CredentialError {
      throw error
    } catch {
      throw error as? FormatError == .newer
        ? .newerVersion(path: "the hand-over")
        : .invalid("the hand-over is malformed; start this program again as the host")
    }
  }

  private init(
    role: Role, group: String, key: consuming RoleKey, session: Session
  ) {
    self.role = role
    self.group = group
    self.key = key
    self.session = session
  }

  private static func memory(_ number: Int32) throws(CredentialError) -> HandedMemory {
    let limits = minimumBytes...Format.maximumHandedBytes
    do {
      if let memory = try HandedMemory.taken(inherited: number, byteCounts: limits) {
        return memory
      }
    } catch {
      throw error.operation == "mlock"
        ? .memoryNotLockable(byteCount: limits.upperBound) : CredentialError(error)
    }
    throw .invalid(
      "the file descriptor \(number) is not a hand-over; start this program directly with"
        + " `framebus credential run`")
  }

  private static func parsed(
    _ whole: borrowing SecretBytes, _ memory: consuming HandedMemory
  ) throws -> HandedOver {
    guard whole.byteCount > 4 else { throw FormatError.wrong }
    var counting = ByteParser(whole.openPrefix(dropping: whole.byteCount - 4))
    let secretCount = Int(try counting.integer(UInt32.self))
    guard secretCount >= RoleKeys.seedBytes, secretCount < whole.byteCount else {
      throw FormatError.wrong
    }
    var parser = ByteParser(whole.openPrefix(dropping: secretCount))
    _ = try parser.raw(4)
    try parser.header(Format.handedMagic)
    let role = try parser.role()
    let group = try parser.text(atMost: GroupID.maximumBytes)
    let signer = try parser.raw(Sodium.publicKeyBytes)
    let count = Int(try parser.integer(UInt8.self))
    guard count <= Format.maximumLeases else { throw FormatError.wrong }
    var offset = whole.byteCount - secretCount
    let seed = try whole.part(offset..<offset + RoleKeys.seedBytes)
    offset += RoleKeys.seedBytes
    var leases: [CredentialName: CredentialLease] = [:]
    for _ in 0..<count {
      let attributes = try parser.attributes(isLease: true)
      let byteCount = Int(try parser.integer(UInt32.self))
      guard (1...Format.maximumSecretBytes).contains(byteCount),
        byteCount <= whole.byteCount - offset, attributes.recipients.contains(role)
      else { throw FormatError.wrong }
      leases[attributes.name] = CredentialLease(
        attributes, try whole.part(offset..<offset + byteCount))
      offset += byteCount
    }
    guard parser.isAtEnd, offset == whole.byteCount, leases.count == count else {
      throw FormatError.wrong
    }
    return HandedOver(
      role: role, group: group, key: RoleKey(seed: seed, signer: signer),
      session: Session(memory, leases: leases))
  }
}

extension CredentialStore {
  /// Opens the store with the key that was handed over, even if this process cannot read a key
  /// file. The manifest must still grant the role to the process's user.
  public static func open(
    in group: AppGroup, handed: consuming HandedOver
  ) throws(CredentialError) -> CredentialStore {
    let role = handed.role
    do { try group.require(role) } catch { throw .notEntitled("\(error)") }
    guard handed.group == group.id.description else {
      throw .invalid(
        "the hand-over is for the group \(handed.group), not \(group.id); select that group with"
          + " --group or FRAMEBUS_GROUP")
    }
    let files = try StoreFiles(in: group, isMaking: false)
    let session = handed.session
    return try CredentialStore(group, role, files, handed.key, session: session)
  }

  /// Ends the session for this process and wipes its leases. The session also ends when the parent
  /// ends it, and when the process exits.
  public func endSession() { session?.end() }
}
