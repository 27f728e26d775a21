import Bridge
import CFuzzer
import FuzzSupport
import Platform

/// Fuzzes what a bridge receives from a network: an accepted message must encode to itself, or, for
/// a suite of settings, to one that reads the same.
@main
struct Program {
  static func main() {
    exitProcess(
      unsafe fuzzer_run { bytes, count in
        // SAFETY: libFuzzer says how many bytes there are.
        var input = unsafe FuzzInput(bytes, count: count)
        let kind = input.byte()
        let rest = input.bytes(count)
        switch kind % 4 {
        case 0:
          if let note = Note(parsing: rest) { precondition(note.bytes == rest) }
        case 1:
          guard let report = MachineReport(parsing: rest) else { break }
          precondition(MachineReport(parsing: report.bytes) == report)
        case 2:
          guard let batch = LogBatch(parsing: rest) else { break }
          precondition(LogBatch(parsing: batch.bytes)?.items.count == batch.items.count)
        default:
          guard let version = SuiteVersion(parsing: rest), let bytes = version.bytes else { break }
          precondition(SuiteVersion(parsing: bytes)?.values.count == version.values.count)
        }
        return 0
      })
  }
}
