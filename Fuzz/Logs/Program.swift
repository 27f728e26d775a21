import CFuzzer
import FuzzSupport
import Platform
import SharedLog

/// Fuzzes the header of a log file and a record.
@main
struct Program {
  static func main() {
    exitProcess(
      unsafe fuzzer_run { bytes, count in
        // SAFETY: libFuzzer says how many bytes there are.
        var input = unsafe FuzzInput(bytes, count: count)
        if let record = HostileInput(input.bytes(count)).record {
          // Each byte that is not valid UTF-8 becomes one character of three bytes.
          precondition(record.message.utf8.count <= 3 * count, "a message from nowhere")
        }
        return 0
      })
  }
}
