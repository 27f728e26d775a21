#if Media
  import Platform
  import Synchronization
  import Upload

  /// An encoder that refused to start or failed, and the one that took its place.
  public struct EncoderFailure: Hashable, Sendable, CustomStringConvertible {
    public let encoder: String
    public let reason: String
    public let next: String

    public var description: String {
      "encoder \(encoder) failed: \(reason); \(next) encodes instead (choose with --encoder, see "
        + "`framebus doctor`)"
    }
  }

  /// The encoders that failed in this process. Each is reported once, and not tried again while
  /// there is another.
  public final class FailedEncoders: Sendable {
    public static let shared = FailedEncoders()

    private struct State {
      var elements: Set<String> = []
      var report: @Sendable (EncoderFailure) -> Void = { _ in }
    }

    private let state = Mutex(State())

    private init() {}

    /// - Parameter report: called on any thread.
    public func report(to report: @escaping @Sendable (EncoderFailure) -> Void) {
      state.withLock { $0.report = report }
    }

    func contains(_ kind: EncoderKind) -> Bool {
      state.withLock { $0.elements.contains(kind.element) }
    }

    /// - Parameters: GStreamer's elements, and its message.
    func note(_ element: String, reason: String, next: String) {
      let report = state.withLock { $0.elements.insert(element).inserted ? $0.report : nil }
      func name(_ element: String) -> String {
        EncoderKind.all.first { $0.element == element }?.name ?? element
      }
      report?(
        EncoderFailure(encoder: name(element), reason: reason.plain, next: name(next)))
    }
  }
#endif
