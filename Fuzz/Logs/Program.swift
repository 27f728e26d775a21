import CFuzzer
import FuzzSupport
import Platform
import SharedLog

/// A header of a log's file and a record, of any content.
@main
struct Program {
  static func main() {
    exitProcess(
      unsafe fuzzer_run { bytes, count in
        // SAFETY: libFuzzer says how many bytes there are.
        var input = unsafe FuzzInput(bytes, count: count)
        if let record = HostileInput(input.bytes(count)).record {
          // Each byte that is no text becomes one character of three bytes.
          precondition(record.message.utf8.count <= 3 * count, "a message from nowhere")
        }
        return 0
      })
  }
}
