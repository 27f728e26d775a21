/// An error of opening, creating or changing a group: what happened, the likely cause, what to do.
public struct GroupError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of failure, for programs.
  public enum Kind: String, Hashable, Sendable {
    /// No group of that id exists.
    case unknown
    /// The group exists already.
    case exists
    /// The caller holds no role, or may not make this change.
    case notPermitted
    /// An owner, mode, link or path cannot be trusted or used.
    case unsafe
    /// The manifest cannot be read or is malformed.
    case brokenManifest
    /// A newer FrameBus wrote the manifest.
    case newerVersion
    /// Another process is changing the group.
    case busy
    /// A system call failed.
    case system
  }
  /// What kind of problem it is, for programs.
  public let kind: Kind
  /// What happened and why.
  public let problem: String
  /// One remedy to try.
  public let advice: String

  /// An error with its text and with one thing to try.
  public init(_ kind: Kind, _ problem: String, advice: String) {
    self.kind = kind
    self.problem = problem
    self.advice = advice
  }

  public var description: String { "\(problem); \(advice)" }
}
