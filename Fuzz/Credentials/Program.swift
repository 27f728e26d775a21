import AppGroup
import CFuzzer
import CredentialStore
import FuzzSupport
import Platform

/// Fuzzes the files of a credential store and the exports of other stores. The first byte of an
/// input chooses the format.
@main
struct Program {
  static func main() {
    exitProcess(
      unsafe fuzzer_run { bytes, count in
        // SAFETY: libFuzzer says how many bytes there are.
        var input = unsafe FuzzInput(bytes, count: count)
        let kind = input.byte()
        trial.read(input.bytes(max(0, count - 1)), as: kind)
        return 0
      })
  }
}

private let trial = {
  do { return Trial(formats: try FormatTrial(group: GroupID("org.example.fuzz"))) } catch {
    fatalError("no keys to sign inputs with: \(error)")
  }
}()

private struct Trial: ~Copyable, Sendable {
  let formats: FormatTrial

  borrowing func read(_ bytes: [UInt8], as kind: UInt8) {
    switch kind {
    case UInt8(ascii: "i"): formats.index(bytes)
    case UInt8(ascii: "b"): formats.indexInBlocks(bytes)
    case UInt8(ascii: "c"): formats.indexBlock(bytes)
    case UInt8(ascii: "s"): formats.item(bytes)
    case UInt8(ascii: "a"): formats.auditRecord(bytes)
    case UInt8(ascii: "k"): formats.keyFile(bytes)
    case UInt8(ascii: "x"): formats.export(bytes)
    case UInt8(ascii: "e"): formats.exported(bytes)
    case UInt8(ascii: "n"): formats.identity(bytes)
    default: break
    }
  }
}
