import Platform

/// A FrameBus program that another one executes, such as `framebus-upload`.
public struct RoleProgram: Sendable {
  public let name: String

  public init(_ name: String) { self.name = name }

  /// Replaces this process with the program, in the same terminal and environment. Returns only by
  /// throwing.
  public func run(_ arguments: [String]) throws -> Never {
    guard let path = siblingProgram(named: name) else { throw MissingProgram(name: name) }
    try replaceProcess(executable: path, arguments: arguments)
  }
}

/// A FrameBus program is not installed.
public struct MissingProgram: Error, Hashable, Sendable, CustomStringConvertible {
  public let name: String

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

extension GlobalOptions {
  /// The options in a form that another FrameBus program can parse.
  public var arguments: [String] {
    var result: [String] = []
    if let groupText { result += ["--group=\(groupText)"] }
    if let rootText { result += ["--root=\(rootText)"] }
    if let roleText { result += ["--role=\(roleText)"] }
    if json { result += ["--json"] }
    if quiet { result += ["--quiet"] }
    if verbose { result += ["--verbose"] }
    return result
  }
}
