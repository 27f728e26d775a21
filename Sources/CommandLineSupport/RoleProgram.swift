import Platform

/// A program of this product that another one hands over to, such as `framebus-upload`.
public struct RoleProgram: Sendable {
  public let name: String

  public init(_ name: String) { self.name = name }

  /// Becomes that program: the process, its terminal and its environment stay. Returns only by
  /// throwing.
  public func run(_ arguments: [String]) throws -> Never {
    guard let path = siblingProgram(named: name) else { throw MissingProgram(name: name) }
    try replaceProcess(executable: path, arguments: arguments)
  }
}

/// A program of this product is not installed.
public struct MissingProgram: Error, Hashable, Sendable, CustomStringConvertible {
  public let name: String

  public var description: String {
    "the program \(name) is neither beside this one nor in ../libexec/framebus; "
      + "install it, or build it with `swift build --product \(name)`"
  }
}

/// The program was built without its media modules.
public struct NoMedia: Error, Hashable, Sendable, CustomStringConvertible {
  public let source: String

  public init(source: String) { self.source = source }

  public var description: String {
    "this build has no source “\(source)”: it was made without the package trait Media"
  }
}

extension GlobalOptions {
  /// These options as another program of this product parses them again.
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
