import CFuzzer
import FuzzSupport
import NotifyCenter
import Platform

/// Fuzzes a mailbox packet: an accepted packet must encode to the same header.
@main
struct Program {
  static func main() {
    exitProcess(
      unsafe fuzzer_run { bytes, count in
        // SAFETY: libFuzzer says how many bytes there are.
        var input = unsafe FuzzInput(bytes, count: count)
        let received = input.bytes(count)
        guard let packet = MailboxPacket(parsing: received[...]) else { return 0 }
        precondition(packet.bytes() == Array(received.prefix(MailboxPacket.headerBytes)))
        return 0
      })
  }
}
