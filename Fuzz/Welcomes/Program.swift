import CFrameLayout
import CFuzzer
import FrameBus
import FuzzSupport
import Platform

/// Fuzzes what a subscriber receives from a hostile publisher: the welcome, the board, a new pool.
///
/// Everything is valid at first. An input is a list of steps of eleven bytes: what to change,
/// where, and the number to write; or a read of the stream.
@main
struct Program {
  static func main() {
    exitProcess(
      unsafe fuzzer_run { bytes, count in
        // SAFETY: libFuzzer says how many bytes there are.
        var input = unsafe FuzzInput(bytes, count: count)
        Program.stage.play(&input)
        return 0
      })
  }

  private static let stage = FakePublisher()
}
