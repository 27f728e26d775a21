import CFuzzer
import FuzzSupport
import Platform
import Recording

/// Fuzzes a recording: its head, blocks, index and end.
@main
struct Program {
  static func main() {
    exitProcess(
      unsafe fuzzer_run { bytes, count in
        // SAFETY: libFuzzer says how many bytes there are.
        var input = unsafe FuzzInput(bytes, count: count)
        let file = input.bytes(count)
        if let index = try? RecordingIndex(parsing: file) { _ = "\(index)" }
        return 0
      })
  }
}
