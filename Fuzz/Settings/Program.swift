import CFuzzer
import FuzzSupport
import Platform
import SharedDefaults

/// Fuzzes a suite of settings: what is read must survive writing and reading. The checksums of a
/// snapshot or a journal record are corrected, so that inputs get past them.
@main
struct Program {
  static func main() {
    exitProcess(
      unsafe fuzzer_run { bytes, count in
        // SAFETY: libFuzzer says how many bytes there are.
        var input = unsafe FuzzInput(bytes, count: count)
        let kind = input.bytes(1).first ?? 0
        let rest = input.bytes(count)
        switch kind % 3 {
        case 0: Program.check(rest)
        case 1: Program.check(SuiteImage.file(sequence: 7, snapshot: rest))
        default:
          let number: [UInt8] = [8, 0, 0, 0, 0, 0, 0, 0]
          Program.check(
            SuiteImage.file(sequence: 7, snapshot: [0, 0, 0, 0])
              + JournalRecord.sealed(number + rest))
        }
        return 0
      })
  }

  private static func check(_ bytes: [UInt8]) {
    guard let (parsed, journalStart) = try? SuiteImage.parse(bytes) else { return }
    var image = parsed
    let read = image.apply(journal: bytes[journalStart...])
    precondition(read >= 0 && journalStart + read <= bytes.count)
    guard let written = try? image.fileBytes() else { return }
    guard let (again, end) = try? SuiteImage.parse(written) else {
      preconditionFailure("what was written cannot be read")
    }
    precondition(end == written.count && again.sequence == image.sequence)
    precondition((try? again.fileBytes()) == written)
  }
}
