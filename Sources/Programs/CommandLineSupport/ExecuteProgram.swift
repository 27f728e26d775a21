import Platform

/// Replaces this process with another program of FrameBus, such as `framebus-upload`, in the same
/// terminal and environment. Returns only by throwing.
public func executeProgram(named name: String, _ arguments: [String]) throws -> Never {
  guard let path = siblingProgram(named: name) else { throw MissingProgram(name: name) }
  try replaceProcess(executable: path, arguments: arguments)
}

/// A FrameBus program is not installed.
public struct MissingProgram: Error, Hashable, Sendable, CustomStringConvertible {
  public let name: String

  package init(name: String) { self.name = name }

  public var description: String {
    "the program \(name) is neither beside this one nor in ../libexec/framebus; "
      + "install it, or build it with `swift build --product \(name)`"
  }
}

/// A source needs media modules that this build lacks.
public struct NoMedia: Error, Hashable, Sendable, CustomStringConvertible {
  public let source: String

  public init(source: String) { self.source = source }

  public var description: String {
    "this build lacks the source “\(source)”; rebuild it with the package trait Media"
  }
}
