import CGStreamer
import Capture
import FrameBus
import LiveKit
import Platform

// The baseline of `framebus bench upload` and `link`: the test pattern of `framebus-capture`, drawn
// into GStreamer's own memory, then encoded and sent by the elements of `framebus-upload`, in one
// process.
//
//   BareUpload PORT|srt://… WIDTH HEIGHT FPS CONVERTER
//
// CONVERTER: framebusconvert, the product's element, or videoconvert.

#if Media
  @main struct Program {
    static func main() {
      let arguments = CommandLine.arguments
      let numbers = arguments.dropFirst(2).compactMap { Int($0) }
      guard arguments.count == 6, numbers.count == 3 else { live_fail("wrong arguments") }
      let (width, height, rate) = (numbers[0], numbers[1], numbers[2])
      guard upload_start(nil, 0), upload_register_converter() else {
        live_fail("cannot initialise GStreamer")
      }
      let port = UInt32(arguments[1])
      let sender = arguments[1].withCString { location in
        arguments[5].withCString { converter in
          var format = live_format(
            width: UInt32(width), height: UInt32(height), framesPerSecond: UInt32(rate),
            kilobitsPerSecond: UInt32(width * height * 3 / 1000), converter: converter,
            location: port == nil ? location : nil)
          return live_sender_create(&format)
        }
      }
      send(sender, width, height, rate, to: port)
    }

    /// The first picture sets the encoder's format; the others wait for the connection.
    /// - Parameter port: of a WHIP endpoint; nil for SRT, which is connected by then.
    private static func send(
      _ sender: OpaquePointer?, _ width: Int, _ height: Int, _ rate: Int, to port: UInt32?
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
          if sequence == 1, let port {
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
