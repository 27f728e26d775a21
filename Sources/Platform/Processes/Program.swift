import CLinuxShims
import Glibc

/// Replaces the program of this process, keeping its standard streams and environment (`execv(3)`).
/// Returns only by throwing.
package func replaceProcess(
  executable: String, arguments: [String]
) throws(SystemError) -> Never {
  linux_restore_signals()
  unsafe withCStrings([executable] + arguments) { arguments in
    // SAFETY: the strings outlive the call, which returns only on failure.
    _ = unsafe execv(executable, arguments)
  }
  throw .last("execv", path: executable)
}

/// The path of another program of this product: beside the running one, or in
/// `../libexec/framebus`; nil if neither directory has it.
package func siblingProgram(named name: String) -> String? {
  (try? ownProgramPath()).flatMap { product(named: name, beside: $0) }
}

private func product(named name: String, beside path: String) -> String? {
  let folder = String(path[...(path.lastIndex(of: "/") ?? path.startIndex)])
  return [folder + name, folder + "../libexec/framebus/" + name].first(where: isExecutableFile)
}

/// The first program of this name in PATH, as a shell would find it.
package func programInPath(named name: String) -> String? {
  environmentValue("PATH")?.split(separator: ":").lazy.map { "\($0)/\(name)" }
    .first(where: isExecutableFile)
}

/// The path of a program of this product, or any in PATH: where the two functions above find it, or
/// beside the `framebus` of PATH, for an application that uses an installed FrameBus.
package func productProgram(named name: String) -> String? {
  siblingProgram(named: name) ?? programInPath(named: name)
    ?? programInPath(named: "framebus").flatMap { product(named: name, beside: $0) }
}

/// The running program's file, whatever name started it. Without /proc, the path that started it.
package func ownProgramPath() throws(SystemError) -> String {
  var code: Int32 = 0
  let path = unsafe String(unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer in
    // SAFETY: readlink writes at most the capacity it is given and returns how much it wrote.
    let count = unsafe buffer.withMemoryRebound(to: CChar.self) {
      unsafe readlink("/proc/self/exe", $0.baseAddress!, $0.count)
    }
    if count < 0 { code = errno }
    return max(count, 0)
  }
  if code == 0 { return path }
  // SAFETY: the text lives as long as the process; what realpath(3) allocates is copied and freed.
  if let executed = unsafe linux_executed_path(), let found = unsafe realpath(executed, nil) {
    defer { unsafe free(found) }
    return unsafe String(cString: found)
  }
  throw SystemError(code: code, operation: "readlink", path: "/proc/self/exe")
}

/// The command line that this process was started with, its own name first. It needs no /proc,
/// without which Swift's `CommandLine.arguments` is empty.
package func ownCommandLine() -> [String] {
  var count: Int32 = 0
  // SAFETY: the list has `count` strings, as in `main`, which live as long as the process.
  guard let words = unsafe linux_arguments(&count) else { return [] }
  return (0..<Int(count)).compactMap { index in
    unsafe words[index].map { unsafe String(cString: $0) }
  }
}

/// Every entry of this process's environment, as `NAME=value`.
package func ownEnvironment() -> [String] {
  var result: [String] = []
  // SAFETY: environ(7) is a list of strings that ends with a null pointer.
  guard var entry = unsafe linux_environment() else { return [] }
  while let text = unsafe entry.pointee {
    result.append(unsafe String(cString: text))
    unsafe entry = entry.successor()
  }
  return result
}

/// Registers a function to be called when this process exits normally: `atexit(3)`.
package func atExit(_ body: @convention(c) () -> Void) { _ = Glibc.atexit(body) }

/// Whether the path leads to a file that this process may execute.
package func isExecutableFile(_ path: String) -> Bool {
  var status = stat()
  // SAFETY: the path is copied for each call.
  guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
  return unsafe access(path, X_OK) == 0
}
