import CFuzzer
import Capture
import FrameBus
import FuzzSupport
import Platform

/// Fuzzes the master playlists of HLS servers: the renditions that a capture finds, and chooses.
///
/// The first two bytes of an input are a size; the playlist follows.
@main
struct Program {
  static func main() {
    exitProcess(
      unsafe fuzzer_run { bytes, count in
        // SAFETY: libFuzzer says how many bytes there are.
        var input = unsafe FuzzInput(bytes, count: count)
        let size = PixelRect(
          x: 0, y: 0, width: 1 + 8 * Int(input.byte()), height: 1 + 8 * Int(input.byte()))
        Program.read(String(decoding: input.bytes(count), as: UTF8.self), fitting: size)
        return 0
      })
  }

  private static func read(_ text: String, fitting size: PixelRect) {
    let all = HLSRendition.renditions(in: text)
    precondition(all.count <= HLSRendition.maximumCount)
    for one in all {
      precondition(one.bitsPerSecond > 0 && one.kilobitsPerSecond > 0)
      precondition((one.width == nil) == (one.height == nil))
      precondition((one.width ?? 1) > 0 && (one.height ?? 1) > 0)
    }
    let best = HLSRendition.choose(among: all, fitting: nil)
    precondition(best?.bitsPerSecond == all.map(\.bitsPerSecond).max())
    let chosen = HLSRendition.choose(among: all, fitting: size)
    precondition(chosen.map(all.contains) ?? all.isEmpty)
    let fits = all.filter { ($0.width ?? 0) <= size.width && ($0.height ?? 0) <= size.height }
    if let most = fits.map(\.bitsPerSecond).max() { precondition(chosen?.bitsPerSecond == most) }
  }
}
