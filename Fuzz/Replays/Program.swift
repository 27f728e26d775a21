import CFuzzer
import FuzzSupport
import Platform
import Replay

/// Fuzzes a replay file: its head, index and units.
@main
struct Program {
  static func main() {
    exitProcess(
      unsafe fuzzer_run { bytes, count in
        // SAFETY: libFuzzer says how many bytes there are.
        var input = unsafe FuzzInput(bytes, count: count)
        if let replay = try? ReplayReader(parsing: input.bytes(count)) {
          _ = replay.heldNs
          _ = try? replay.units()
        }
        return 0
      })
  }
}
