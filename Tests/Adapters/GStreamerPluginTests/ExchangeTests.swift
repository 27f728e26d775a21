import Foundation
import TestSupport
import Testing

/// Frames between gst-launch-1.0 and gst-launch-1.0, or the command line in Swift: their bytes.
@Suite(.serialized) struct ExchangeTests {
  private let scene: PluginScene
  init() throws { scene = try PluginScene() }

  private static let wholeSink = "lossless=true wait-for-subscriber=true sync=false"
  private static let wholeSource = "policy=lossless start=oldest"

  @Test(arguments: [
    "BGRx,width=320,height=240", "I420,width=320,height=180", "NV12,width=64,height=50",
    "P010_10LE,width=64,height=48", "RGB,width=33,height=7", "GRAY8,width=16,height=9",
    "YUY2,width=40,height=30", "VUYA,width=24,height=10", "RGBA64_LE,width=24,height=10",
  ])
  func picturesArriveAsTheyWereSent(_ format: String) throws {
    let source = "videotestsrc pattern=ball num-buffers=20 ! video/x-raw,framerate=30/1,format="
    try scene.runPipeline(source + format + " ! filesink location=" + scene.file("sent"))
    let receiver = try scene.launch(
      "framebussrc stream=a \(Self.wholeSource) ! filesink location=" + scene.file("received"))
    try scene.runPipeline(source + format + " ! framebussink stream=a " + Self.wholeSink)
    #expect(try receiver.finish().status.isSuccess, "\(receiver.transcript)")
    #expect(try scene.contents("sent").count > 0)
    #expect(try scene.contents("sent") == scene.contents("received"))
  }

  /// Padding at the ends of rows belongs to nobody, so a format without any is compared.
  @Test func oddSizesArriveAsTheyWereSent() throws {
    let source =
      "videotestsrc pattern=ball num-buffers=10 "
      + "! video/x-raw,format=I420,width=321,height=241,framerate=30/1"
    let plain = " ! videoconvert ! video/x-raw,format=RGBA ! filesink location="
    try scene.runPipeline(source + plain + scene.file("sent"))
    let receiver = try scene.launch(
      "framebussrc stream=a " + Self.wholeSource + plain + scene.file("received"))
    try scene.runPipeline(source + " ! framebussink stream=a " + Self.wholeSink)
    #expect(try receiver.finish().status.isSuccess, "\(receiver.transcript)")
    #expect(try scene.contents("sent").count == 10 * 321 * 241 * 4)
    #expect(try scene.contents("sent") == scene.contents("received"))
  }

  @Test(arguments: ["S16LE,rate=48000,channels=2", "F32LE,rate=44100,channels=1"])
  func soundArrivesAsItWasSent(_ format: String) throws {
    let source = "audiotestsrc num-buffers=60 ! audio/x-raw,layout=interleaved,format="
    try scene.runPipeline(source + format + " ! filesink location=" + scene.file("sent"))
    let receiver = try scene.launch(
      "framebussrc stream=a \(Self.wholeSource) ! filesink location=" + scene.file("received"))
    try scene.runPipeline(source + format + " ! framebussink sound=mic stream=a " + Self.wholeSink)
    #expect(try receiver.finish().status.isSuccess, "\(receiver.transcript)")
    #expect(try scene.contents("sent").count > 0)
    #expect(try scene.contents("sent") == scene.contents("received"))
  }

  @Test func encodedPicturesArriveAsTheyWereSent() throws {
    let source =
      "videotestsrc num-buffers=30 ! video/x-raw,width=320,height=240,framerate=30/1 "
      + "! x264enc tune=zerolatency threads=1 key-int-max=10 "
      + "! video/x-h264,stream-format=byte-stream,alignment=au "
    try scene.runPipeline(source + "! filesink location=" + scene.file("sent"))
    let receiver = try scene.launch(
      "framebussrc stream=a \(Self.wholeSource) ! tee name=t ! queue ! filesink location="
        + scene.file("received") + " t. ! queue ! h264parse ! avdec_h264 ! fakesink")
    try scene.runPipeline(source + "! framebussink stream=a " + Self.wholeSink)
    #expect(try receiver.finish().status.isSuccess, "\(receiver.transcript)")
    #expect(try scene.contents("sent").count > 0)
    #expect(try scene.contents("sent") == scene.contents("received"))
  }

  @Test func commandLineReceivesWhatTheSinkPublishes() throws {
    let source =
      "videotestsrc pattern=ball num-buffers=20 "
      + "! video/x-raw,format=NV12,width=320,height=240,framerate=30/1"
    try scene.runPipeline(source + " ! filesink location=" + scene.file("sent"))
    let sender = try scene.launch(
      source + " ! framebussink stream=a " + Self.wholeSink)
    try waitUntil("the stream is there") {
      try scene.start(["streams"]).finish().output.contains("320×240")
    }
    let player = try scene.start(["play", "a", "--raw"])
    let played = try player.finish()
    #expect(played.status.isSuccess, "\(player.transcript)")
    #expect(try scene.contents("sent") == Data(player.output.bytes))
    #expect(try sender.finish().status.isSuccess, "\(sender.transcript)")
  }

  @Test func sourceReceivesWhatTheCommandLinePublishes() throws {
    let source =
      "videotestsrc pattern=ball num-buffers=20 "
      + "! video/x-raw,format=I420,width=320,height=240,framerate=30/1"
    try scene.runPipeline(source + " ! filesink location=" + scene.file("sent"))
    try scene.runPipeline(source + " ! y4menc ! filesink location=" + scene.file("sent.y4m"))
    let receiver = try scene.launch(
      "framebussrc stream=a \(Self.wholeSource) ! filesink location=" + scene.file("received"))
    let capture = try scene.start(["capture", "y4m:" + scene.file("sent.y4m"), "--stream", "a"])
    #expect(try capture.finish().status.isSuccess, "\(capture.transcript)")
    #expect(try receiver.finish().status.isSuccess, "\(receiver.transcript)")
    #expect(try scene.contents("sent").count > 0)
    #expect(try scene.contents("sent") == scene.contents("received"))
  }

  @Test func capturedTestPatternFlowsThroughAPipelineIntoAnotherStream() throws {
    let capture = try scene.start(["capture", "test", "--stream", "a", "--size", "320x240"])
    let relay = try scene.launch("framebussrc stream=a ! framebussink stream=b")
    let recorder = try scene.start(["record", "b", scene.file("b.rec"), "--frames", "5"])
    #expect(try recorder.finish().status.isSuccess, "\(recorder.transcript)")
    let player = try scene.start(["play", scene.file("b.rec"), "--raw"])
    #expect(try player.finish().status.isSuccess, "\(player.transcript)")
    #expect(player.output.bytes.count == 5 * 320 * 240 * 4)
    // Not one colour alone.
    #expect(Set(player.output.bytes).count > 4)
    #expect(try relay.end(with: SIGINT).status.isSuccess, "\(relay.transcript)")
    _ = try capture.end(with: SIGTERM)
  }
}
