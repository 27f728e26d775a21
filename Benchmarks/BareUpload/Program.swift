import CGStreamer
import Capture
import FrameBus
import LiveKit
import Platform

// The baseline of `framebus bench upload`: the test pattern of `framebus-capture`, drawn into
// GStreamer's own memory, then encoded and sent by the elements of `framebus-upload`, in one
// process.
//
//   BareUpload PORT WIDTH HEIGHT FPS CONVERTER
//
// CONVERTER: framebusconvert, the product's element, or videoconvert.

#if Media
  @main struct Program {
    static func main() {
      let arguments = CommandLine.arguments
      let numbers = arguments.dropFirst().compactMap { Int($0) }
      guard arguments.count == 6, numbers.count == 4 else { live_fail("wrong arguments") }
      let (port, width, height, rate) = (numbers[0], numbers[1], numbers[2], numbers[3])
      guard upload_start(nil, 0), upload_register_converter() else {
        live_fail("cannot initialise GStreamer")
      }
      let converter = arguments[5]
      let sender = converter.withCString { converter in
        var format = live_format(
          width: UInt32(width), height: UInt32(height), framesPerSecond: UInt32(rate),
          kilobitsPerSecond: UInt32(width * height * 3 / 1000), converter: converter)
        return live_sender_create(&format)
      }
      send(sender, width, height, rate, to: UInt32(port))
    }

    /// The first picture sets the encoder's format; the others wait for the connection.
    private static func send(
      _ sender: OpaquePointer?, _ width: Int, _ height: Int, _ rate: Int, to port: UInt32
    ) {
      let pattern = TestPattern(.bars)
      let beginNs = monotonicNowNs()
      var pacer = FramePacer(rate: FrameRate(rate, 1), startNs: beginNs)
      var sequence: UInt64 = 0
      while true {
        sleep(until: Deadline(monotonicNs: pacer.deadlineNs))
        if let memory = live_sender_begin(sender) {
          sequence += 1
          let nowNs = monotonicNowNs()
          var bytes = MutableRawSpan(_unsafeStart: memory, byteCount: width * height * 4)
          pattern.draw(
            into: &bytes, width: width, height: height, strideBytes: width * 4,
            sequence: sequence, milliseconds: nowNs / 1_000_000)
          live_sender_send(sender, nowNs - beginNs)
          if sequence == 1 {
            live_sender_connect(sender, port)
            pacer.restart(atNs: monotonicNowNs())
          }
        }
        pacer.advance(nowNs: monotonicNowNs())
      }
    }
  }
#else
  @main struct Program {
    static func main() {}
  }
#endif
