import Platform

extension SecretBytes {
  /// The longest secret. The capacity adds a newline, and a byte that reveals a longer secret.
  private static let longest = 65536
  private static let capacity = longest + 2

  /// Reads a secret from a file descriptor, to its end.
  /// - Parameters:
  ///   - what: its name in messages, such as “the passphrase”.
  ///   - isExact: whether to keep a final newline; if false, one is dropped.
  package static func read(
    from number: Int32, called what: String, isExact: Bool = false
  ) throws(CredentialError) -> SecretBytes {
    let secret = try SecretBytes(capacity: capacity) { span throws(CredentialError) in
      let count: Int
      do { count = try readFully(into: &span, from: number) } catch {
        throw .invalid("cannot read \(what) from the file descriptor \(number): \(error)")
      }
      if count == 0 { return 0 }
      // SAFETY: the offset is inside the span, of which `count` bytes are filled.
      let last = unsafe span.bytes.unsafeLoad(fromByteOffset: count - 1, as: UInt8.self)
      let kept = !isExact && last == UInt8(ascii: "\n") ? count - 1 : count
      // Not truncated: the same input would then be accepted wherever the whole secret is.
      if kept > longest { throw .invalid("\(what) has 1 to \(longest) bytes, not more") }
      return kept
    }
    if secret.byteCount == 0 { throw .invalid("\(what) is empty") }
    return secret
  }
}
