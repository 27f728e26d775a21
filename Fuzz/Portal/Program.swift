import CFuzzer
import CPortalKit
import FuzzSupport
import Platform

/// Fuzzes what a desktop's portal and PipeWire say to the capture: answers and signals of the bus;
/// formats, metadata and memory of pictures; nodes and buffers of sound.
///
/// The first byte of an input chooses the kind; what is said follows.
@main
struct Program {
  static func main() {
    exitProcess(
      unsafe fuzzer_run { bytes, count in
        guard count > 0, let start = unsafe bytes else { return 0 }
        // SAFETY: libFuzzer says how many bytes there are.
        let said = unsafe start + 1
        switch unsafe start[0] % 3 {
        case 0: unsafe portal_kit_bus(said, count - 1)
        case 1: unsafe portal_kit_pictures(said, count - 1)
        default: unsafe portal_kit_sound(said, count - 1)
        }
        return 0
      })
  }
}
