import CFuzzer
import FuzzSupport
import NotifyCenter
import Platform

/// A packet of a mailbox, of any content: what is taken for one says what it said.
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
