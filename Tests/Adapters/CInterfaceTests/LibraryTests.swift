import Foundation
import Platform
import TestSupport
import Testing

/// The library as a file: what it exports, needs and comes with.
@Suite struct LibraryTests {
  /// The names in exports.map.
  private static func listedNames() throws -> Set<String> {
    let map = try String(
      contentsOfFile: InterfaceLibrary.repository + "/Sources/C/CFrameBus/exports.map",
      encoding: .utf8)
    return Set(
      map.split(separator: "\n").filter { $0.hasPrefix("    framebus_") }.map {
        String($0.dropFirst(4).dropLast())
      })
  }

  @Test func itExportsExactlyTheListedCallsInOneVersion() throws {
    let library = try InterfaceLibrary.shared.get()
    let exported = try output(of: "nm", ["-D", "--defined-only", library.path])
      .split(separator: "\n").map { $0.split(separator: " ").dropFirst().joined(separator: " ") }
    #expect(Set(exported) == Set(try Self.listedNames().map { "T \($0)@@FRAMEBUS_0" }))
  }

  @Test func theHeadersDeclareExactlyTheListedCalls() throws {
    var declared: Set<String> = []
    for name in ["framebus.h", "framebus-group.h"] {
      let text = try String(contentsOfFile: InterfaceLibrary.headers + "/" + name, encoding: .utf8)
      let code = text.replacing(/\/\*.*?\*\//.dotMatchesNewlines(), with: "")
      for match in code.matches(of: /\b(framebus_[a-z0-9_]+)\(/) {
        declared.insert(String(match.1))
      }
    }
    #expect(declared == (try Self.listedNames()))
  }

  @Test func itNeedsNoLibraryOfSwiftAndGlibc234AtMost() throws {
    let library = try InterfaceLibrary.shared.get()
    let needed = try output(of: "ldd", [library.path])
    #expect(!needed.contains("swift") && !needed.contains("not found"), "\(needed)")
    let symbols = try output(of: "objdump", ["-T", library.path])
    let minors = symbols.matches(of: /GLIBC_2\.(\d+)/).compactMap { Int($0.1) }
    #expect(try #require(minors.max()) <= 34)
    let facts = try output(of: "objdump", ["-p", library.path])
    #expect(facts.contains("SONAME               libframebus.so.0\n"))
    #expect(!facts.contains("RPATH") && !facts.contains("RUNPATH"))
  }

  @Test(arguments: [
    ("gcc", ["-std=c11"]), ("clang", ["-std=c11"]), ("g++", ["-std=c++17", "-x", "c++"]),
    ("clang++", ["-std=c++17", "-x", "c++"]),
  ])
  func theHeadersCompileWithoutAWarning(compiler: String, language: [String]) throws {
    let root = try TemporaryRoot()
    for (index, header) in ["framebus.h", "framebus-group.h", "framebus-types.h"].enumerated() {
      let source = root.file("header\(index).c")
      // Twice, because a header may be included by several others.
      let line = "#include <\(header)>\n"
      try (line + line + "int main(void) { return 0; }\n").write(
        toFile: source, atomically: false, encoding: .utf8)
      try output(
        of: compiler,
        language + ["-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only"]
          + ["-I", InterfaceLibrary.headers, source])
    }
  }

  @Test func twoCopiesWorkInOneProcessBesideTheRuntimeOfThisProgram() throws {
    let library = try InterfaceLibrary.shared.get()
    let root = try TemporaryRoot()
    // Another file, so that the loader takes it for another library.
    try output(of: "cp", [library.path, root.file("libother.so")])
    for path in [library.path, root.file("libother.so")] {
      let version = try call("framebus_abi_version", in: path, as: Version.self)
      #expect(version() == 1)
      let now = try call("framebus_now_ns", in: path, as: Now.self)
      #expect(now() <= monotonicNowNs())
      let open = unsafe try call("framebus_group_open", in: path, as: OpenGroup.self)
      var handle: UInt = 0
      // SAFETY: the function has these parameters.
      let result = unsafe open("org.example.nothing", root.path, &handle, 0)
      #expect(result == -5)
    }
  }

  private typealias Version = @convention(c) () -> UInt32
  private typealias Now = @convention(c) () -> UInt64
  private typealias OpenGroup =
    @convention(c) (
      UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafeMutablePointer<UInt>?, UInt
    ) -> Int32

  /// A function of a library that this process loads.
  private func call<Function>(
    _ name: String, in path: String, as type: Function.Type
  ) throws -> Function {
    // SAFETY: the caller names the function's type.
    guard let library = unsafe dlopen(path, RTLD_NOW | RTLD_LOCAL),
      let symbol = unsafe dlsym(library, name)
    else { throw HarnessError("\(path) has no \(name): \(unsafe String(cString: dlerror()))") }
    return unsafe unsafeBitCast(symbol, to: type)
  }
}
