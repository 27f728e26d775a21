import CFrameLayout
import CFuzzer
import FrameBus
import FuzzSupport
import Platform

/// What a subscriber is sent and shown by a publisher that may be anything: the welcome, the board,
/// a new pool.
///
/// All of it is right at first. An input is a list of changes, eleven bytes each: what to change,
/// where, and the number to write there; or a look at the stream.
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
