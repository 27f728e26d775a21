import AppGroup
import Foundation
import Platform
import TestSupport
import Testing

/// libframebus.so.0, linked from the modules of this build, and programs in C that use it. Made
/// once for all tests.
final class InterfaceLibrary: Sendable {
  static let shared = Result { try InterfaceLibrary() }

  private let library: LinkedLibrary
  static let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path
  static let headers = repository + "/Sources/C/CFrameBus/include"
  static let programs = repository + "/Tests/Programs/CInterface"

  private init() throws {
    library = try LinkedLibrary(besides: "BusWorker")
    for name in ["Worker", "Arguments", "Threads", "Group", "Permits", "Descriptions"] {
      try compile(Self.programs + "/\(name).c", as: name)
    }
    try compile(
      Self.programs + "/CountAllocations.c", as: "count.so", options: ["-shared", "-fPIC"])
  }

  var path: String { library.file("lib/libframebus.so.0") }

  /// A program that `compile` made.
  func program(_ name: String) -> String { library.file(name) }

  /// For a library that scripts/sanitize has instrumented: of the same compiler, whose runtime for
  /// threads needs Swift's libdispatch.
  private static func options(of sanitizer: String) throws -> [String] {
    let clang = URL(fileURLWithPath: try #require(programInPath(named: "clang")))
    let libraries = clang.resolvingSymlinksInPath().deletingLastPathComponent()
      .appending(path: "../lib/swift/linux").standardizedFileURL.path
    return ["-fsanitize=\(sanitizer)", "-fno-sanitize-recover=all", "-fuse-ld=lld"]
      + (sanitizer == "thread"
        ? ["-L" + libraries, "-Wl,-rpath," + libraries, "-ldispatch", "-lBlocksRuntime"] : [])
  }

  func compile(_ source: String, as name: String, options: [String] = []) throws {
    let sanitizer = ProcessInfo.processInfo.environment["SANITIZER"]
    let instrumented = try sanitizer.map { try Self.options(of: $0) } ?? []
    try library.compile(
      [source], as: name, by: sanitizer == nil ? "cc" : "clang",
      ["-std=c11", "-pedantic", "-pthread"] + options + instrumented)
  }
}

/// A group in a temporary root, with workers in both languages.
struct CWorld {
  static let groupName = "org.example.test"
  let root: TemporaryRoot
  let group: AppGroup
  let library: InterfaceLibrary

  init() throws {
    library = try InterfaceLibrary.shared.get()
    root = try TemporaryRoot()
    group = try AppGroup.create(GroupID(Self.groupName), root: root.path)
  }

  /// Starts a worker in C.
  func c(_ role: String, _ settings: String..., with variables: [String: String] = [:]) throws
    -> RunningProgram
  {
    try RunningProgram(
      library.program("Worker"), [role, root.path, Self.groupName, "screen"] + settings,
      environment: variables)
  }

  /// Starts a `BusWorker`, in Swift.
  func swift(_ role: String, _ settings: String...) throws -> RunningProgram {
    try RunningProgram(
      "BusWorker", [role, root.path, Self.groupName, "screen"] + settings)
  }
}
