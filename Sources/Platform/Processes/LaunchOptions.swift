/// Options for starting a child process. The child inherits only the three standard streams and the
/// descriptors listed here.
package struct LaunchOptions: Sendable {
  /// The connection of a standard stream of the child.
  package enum Stream: Sendable {
    /// This process's own stream.
    case inherit
    /// /dev/null.
    case null
    /// An open descriptor, which stays open here; the caller keeps it until the launch returns.
    case descriptor(Int32)
  }

  /// A path, or a name to look up in PATH.
  package var executable: String
  /// Without the program's own name, which is `executable`.
  package var arguments: [String]
  /// Variables to set, or to remove if the value is nil; others are inherited.
  package var environment: [String: String?] = [:]
  package var directory: String?
  package var input = Stream.null
  package var output = Stream.inherit
  package var errors = Stream.inherit
  /// Descriptors that become 3, 4 … in the child; at most 13.
  package var inherited: [Int32] = []
  /// A child that leads its own process group does not receive the terminal's Ctrl-C.
  package var hasOwnGroup = false

  package init(_ executable: String, _ arguments: [String] = []) {
    self.executable = executable
    self.arguments = arguments
  }
}
