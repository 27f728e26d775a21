import CFrameLayout
import CFuzzer
import FrameBus
import FuzzSupport
import Platform

/// Fuzzes a publisher's control plane through a real socket: packets of any content with
/// descriptors, from clients that may have sent a valid hello before.
///
/// The first byte of an input says whether a hello comes first. Packets follow: two bytes of
/// length, one of flags, the bytes.
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

  private static let stage = Stage()
}

private final class Stage: @unchecked Sendable {  // because one thread uses it
  private let world = FuzzWorld()
  private var publisher: Publisher
  private let unwanted: MemoryFile

  init() {
    do {
      var options = PublisherOptions()
      options.allowsLossless = true
      publisher = try Publisher(
        world.stream, in: world.group, format: try .video(.xrgb8888, width: 16, height: 4),
        options: options)
      unwanted = try MemoryFile(named: "unwanted", byteCount: 4096)
    } catch { fatalError("no publisher to fuzz: \(error)") }
  }

  func play(_ input: inout FuzzInput) {
    guard let socket = try? MessageSocket.connect(to: world.socketPath) else {
      fatalError("the publisher accepts nobody")
    }
    if input.byte() & 1 != 0 { _ = socket.send(bytes: Self.hello) }
    while !input.isEmpty {
      let count = Int(input.number(bytes: 2)) % 4200
      let flags = input.byte()
      let descriptors = Array(repeating: unwanted.descriptor.number, count: Int(flags % 4))
      _ = socket.send(bytes: input.bytes(count), descriptors: descriptors)
    }
    // One byte is too short for any packet, and marks the end of this conversation.
    while socket.send(bytes: [0]) == .wouldBlock { drain(socket) }
    drainUntilEnd(socket)
    publish()
  }

  /// Reads all pending packets.
  /// - Returns: false at the end of the connection.
  @discardableResult
  private func drain(_ socket: borrowing MessageSocket) -> Bool {
    var buffer = InlineArray<4096, UInt8>(repeating: 0)
    var elements = buffer.mutableSpan
    // SAFETY: every value of a byte is valid.
    var span = unsafe elements.mutableBytes
    while true {
      do {
        guard let received = try socket.receive(into: &span) else { return true }
        if received.byteCount == 0 { return false }
      } catch { return false }
    }
  }

  private func drainUntilEnd(_ socket: borrowing MessageSocket) {
    while drain(socket) {
      guard socket.waitUntilReadable(until: .after(.seconds(20))) else {
        fatalError("the publisher keeps a connection that broke the protocol")
      }
    }
  }

  /// Checks that the publishing thread continues after any input.
  private func publish() {
    do { try publisher.loan(waitingUntil: .after(.seconds(20))).publish() } catch {
      fatalError("no loan: \(error)")
    }
  }

  private static var hello: [UInt8] {
    let header = fb_message_header(
      magic: 0x3130_5355_424d_5246, abi_version: UInt32(FB_ABI_VERSION),
      kind: UInt32(FB_MESSAGE_HELLO))
    var hello = fb_hello()
    hello.header = header
    hello.holds = 1
    // SAFETY: the bytes are copied at once.
    return unsafe withUnsafeBytes(of: hello) { unsafe Array($0) }
  }
}
