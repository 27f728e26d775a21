import AppGroup
import Capture
import FrameBus
import Platform
import WorkerSupport

/// An application that publishes its own frames: `BroadcastWorker publish ROOT GROUP STREAM`.
/// Pictures have the pattern and the number of `test:bars`, which ``PictureCheck`` reads. With
/// `sound=1` it also publishes silence as STREAM.audio.app, and follows no switch.
func publish(_ arguments: [String]) throws {
  let signals = try SignalWatcher()
  let settings = Settings(arguments.dropFirst(5))
  let group = try AppGroup.open(GroupID(arguments[3]), root: arguments[2])
  let format = try FrameFormat.video(.xrgb8888, width: 320, height: 48)
  var pictures = try Publisher(StreamName(arguments[4]), in: group, format: format)
  let audio = try AudioFormat(.s16le, sampleRate: 48_000, channelCount: 2)
  let soundFormat = try FrameFormat.audio(.appAudio, audio, maximumSampleFrameCount: 480)
  var sound = try Publisher(
    StreamName("\(arguments[4]).audio.app"), in: group, format: soundFormat)
  let pattern = TestPattern(.bars)
  var sequence: UInt64 = 1
  say("publishes")
  while !signals.stop.isRaised {
    let nowNs = monotonicNowNs()
    var loan = try pictures.loan()
    var bytes = loan.bytes
    pattern.draw(
      into: &bytes, width: format.width, height: format.height,
      strideBytes: format.planes[0].stride, sequence: sequence, milliseconds: nowNs / 1_000_000)
    loan.metadata.ptsNs = Int64(nowNs)
    loan.metadata.capturedAtNs = nowNs
    sequence = loan.publish().rawValue + 1
    if settings["sound"] != nil { try publishSilence(&sound, atNs: nowNs) }
    if sequence.isMultiple(of: 10) { say("number \(sequence)") }
    _ = try waitUntilReadable(
      [signals.stop.descriptorNumber], until: .after(.milliseconds(10)))
  }
  pictures.finish(.ended)
}

private func publishSilence(_ sound: inout Publisher, atNs nowNs: UInt64) throws {
  var loan = try sound.loan()
  var bytes = loan.bytes
  for offset in 0..<bytes.byteCount {
    bytes.storeBytes(of: 0, toByteOffset: offset, as: UInt8.self)
  }
  loan.metadata.ptsNs = Int64(nowNs)
  loan.metadata.capturedAtNs = nowNs
  _ = loan.publish()
}
