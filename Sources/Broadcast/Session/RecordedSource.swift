import Capture
import CredentialStore

/// How the record of a session names a source: every member can read the record, and a pipeline may
/// have a secret. So the record shows the rest, and has a digest by which a later start finds out
/// whether it requests the same source.
enum RecordedSource {
  /// - Returns: nil for a source that is shown whole.
  static func digest(of source: String) throws(BroadcastError) -> SecretDigest? {
    if SourceKind.shown(source) == source { return nil }
    do throws(CredentialError) { return try SecretDigest(of: source) } catch {
      throw .credentials(error)
    }
  }

  /// - Parameters:
  ///   - recorded: what the record shows: without a digest the whole source, as in the records of
  ///     older builds.
  static func isSame(
    _ source: String, as recorded: String, _ digest: SecretDigest?
  ) throws(BroadcastError) -> Bool {
    guard let digest else { return source == recorded }
    guard SourceKind.shown(source) == recorded else { return false }
    do throws(CredentialError) { return try digest.isOf(source) } catch {
      throw .credentials(error)
    }
  }
}

extension BroadcastRecord {
  /// The session's sources, without what may be a secret.
  mutating func setSources(of request: BroadcastRequest) throws(BroadcastError) {
    source = SourceKind.shown(request.source)
    sourceDigest = try RecordedSource.digest(of: request.source)
    for (type, source) in request.soundSources {
      options.soundDigests[type] = try RecordedSource.digest(of: source)
    }
  }

  func isOf(_ source: String) throws(BroadcastError) -> Bool {
    try RecordedSource.isSame(source, as: self.source, sourceDigest)
  }
}

extension SessionOptions {
  /// - Parameter source: nil for none.
  func captures(
    _ type: SampleBufferType, from source: String?
  ) throws(BroadcastError) -> Bool {
    guard let recorded = soundSources[type], let source else { return soundSources[type] == source }
    return try RecordedSource.isSame(source, as: recorded, soundDigests[type])
  }
}
