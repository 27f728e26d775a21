import Foundation

/// libframebus.so.0, linked from the modules of this build into a directory of its own, and what is
/// built over it: a plugin, and programs in C. The directory is removed when the process exits.
package final class LinkedLibrary: Sendable {
  private let root: TemporaryRoot

  /// - Parameters:
  ///   - program: one of this build, beside which the library's modules are.
  ///   - plugin: the script that builds a plugin over the library, such as `obs-plugin`.
  package init(besides program: String = "framebus", plugin: String? = nil) throws {
    // For other users too.
    root = try TemporaryRoot(mode: 0o755)
    removeAtExit(root.path)
    let build = URL(fileURLWithPath: try pathOfProgram(program)).deletingLastPathComponent()
    let scripts = URL(fileURLWithPath: tool("../../scripts")).standardizedFileURL.path
    try output(of: scripts + "/library", [build.path, root.path])
    if let plugin { try output(of: scripts + "/" + plugin, [root.path]) }
  }

  /// A file of the library or of what is built over it.
  package func file(_ name: String) -> String { root.file(name) }

  /// Compiles and links a program with the options of pkg-config, as a user does.
  /// - Parameters:
  ///   - packages: their names; `framebus` is the library.
  ///   - options: after the sources, before the packages' own.
  package func compile(
    _ sources: [String], as name: String, with packages: [String] = ["framebus"],
    by compiler: String = "cc", _ options: [String]
  ) throws {
    let flags = try run(
      "pkg-config", ["--cflags", "--libs"] + packages,
      environment: ["PKG_CONFIG_PATH": file("lib/pkgconfig")]
    ).output.split { $0.isWhitespace }.map(String.init)
    let strict = ["-O1", "-g", "-Wall", "-Wextra", "-Werror", "-o", file(name)]
    try output(
      of: compiler, strict + sources + options + flags + ["-Wl,-rpath," + file("lib")])
  }
}

/// The local group, in a root of its own, where the command framebus and plugins find it by their
/// environment.
package struct LocalGroup: Sendable {
  package let root: TemporaryRoot

  package init() throws {
    root = try TemporaryRoot()
    try output(of: "framebus", ["group", "create", "group.local.framebus", "--root", root.path])
  }

  package func file(_ name: String) -> String { root.file(name) }

  /// The variables with which programs find the group.
  package var environment: [String: String?] {
    ["FRAMEBUS_HOME": root.path, "FRAMEBUS_GROUP": nil]
  }
}
