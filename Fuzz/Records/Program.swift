import CFrameLayout
import CFuzzer
import FrameBus
import FuzzSupport
import Platform

/// Fuzzes records of other processes: a malformed one must be refused.
@main
struct Program {
  static func main() {
    exitProcess(
      unsafe fuzzer_run { bytes, count in
        // SAFETY: libFuzzer says how many bytes there are.
        var input = unsafe FuzzInput(bytes, count: count)
        Program.read(&input)
        return 0
      })
  }

  private static func read(_ input: inout FuzzInput) {
    switch input.byte() % 4 {
    case 0:
      var record = fb_format()
      input.fill(&record)
      guard let format = FrameFormat(record) else { return }
      precondition(format.record(epoch: record.epoch).byte_count == UInt64(format.byteCount))
      _ = "\(format)"
    case 1:
      var record = fb_descriptor()
      input.fill(&record)
      guard let format = try? FrameFormat.video(.xrgb8888, width: 64, height: 16) else { return }
      let metadata = FrameMetadata(record, of: format)
      precondition(metadata.damage.rects.count <= Int(FB_MAXIMUM_DAMAGE))
      _ = "\(metadata)"
    case 2:
      var record = fb_status()
      input.fill(&record)
      guard let stream = try? StreamName("screen") else { return }
      let status = StreamStatus(stream, record, [])
      precondition(status.subscribers.count <= Int(FB_MAXIMUM_SUBSCRIBERS))
      _ = "\(status)"
    default:
      var record = fb_refusal()
      input.fill(&record)
      let refusal = Refusal(record)
      _ = "\(refusal)"
    }
  }
}
