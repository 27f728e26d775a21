import AppGroup
import Foundation
import FrameBus
import Platform

// A publisher whose frames a test can predict:
//
//   UploadTestPublisher ROOT STREAM live|lossless|still SEGMENT…
//
// A segment is FOURCC:WxH:COUNT:INTERVAL, the interval in microseconds: COUNT frames, stamped and
// (when live) published at that interval. Frame n is a flat grey of level 16 + 8 · (n mod 24). The
// format NOIS is noise, in XR24, which no encoder can compress. The format PCM is sound, with
// RATExCHANNELS instead of WxH: 16 bits, every sample 0.5, each frame as long as the interval;
// TONE is the same with a tone of 440 Hz. MARK1 to MARK8 are grey in XR24, of that orientation and
// of WxH once upright, with a white block in the upright picture's upper left corner. HOLE is XR24
// whose bytes are never written; WIDE is the same with the longest possible stride, FAST with the
// highest frame rate. Each frame's time stamp is printed on a line.
// `still` waits for a signal after the last segment without publishing, like a screen that does
// not change.

@main struct Program {
  static func main() {
    do {
      try run(CommandLine.arguments)
    } catch {
      try? writeFully(Array("error: \(error)\n".utf8), to: 2)
      exitProcess(1)
    }
  }

  private static func run(_ arguments: [String]) throws {
    guard arguments.count >= 5 else { throw WrongArguments() }
    let signals = try SignalWatcher()
    let group = try openGroup(root: arguments[1])
    let isLossless = arguments[3] == "lossless"
    let segments = try arguments[4...].map(Segment.init)
    var options = PublisherOptions()
    // Slots of the ring are what is allocated at once.
    let isUntouched = segments.contains(where: \.isUntouched)
    options.ringDepth = isUntouched ? 2 : segments[0].format.kind == .video ? 4 : 64
    options.allowsLossless = isLossless
    var publisher = try Publisher(
      StreamName(arguments[2]), in: group, format: segments[0].format, options: options)
    guard publisher.waitForSubscriber(until: .after(.seconds(60)), stop: signals.stop) else {
      throw WrongArguments()
    }
    var number = 0
    // A lossless stream is that of a file, which has its own time.
    var ptsNs = isLossless ? 0 : Int64(monotonicNowNs())
    for segment in segments {
      if segment.format != publisher.format { try publisher.setFormat(segment.format) }
      for _ in 0..<segment.count where !signals.stop.isRaised {
        if !isLossless { sleep(until: Deadline(monotonicNs: UInt64(ptsNs))) }
        var loan = try publisher.loan(waitingUntil: .after(.seconds(30)), stop: signals.stop)
        fill(&loan, segment, number)
        loan.metadata.ptsNs = ptsNs
        loan.metadata.orientation = segment.orientation
        loan.metadata.capturedAtNs = monotonicNowNs()
        _ = loan.publish()
        try writeFully(Array("\(ptsNs)\n".utf8), to: 1)
        number += 1
        ptsNs += segment.intervalNs
      }
    }
    if arguments[3] == "still" {
      _ = try waitUntilReadable([signals.stop.descriptorNumber], until: .never)
    }
    publisher.finish(.ended)
  }

  private static func openGroup(root: String) throws -> AppGroup {
    if let group = try? AppGroup.open(.local, root: root) { return group }
    do {
      return try AppGroup.create(.local, root: root)
    } catch  where error.kind == .exists {
      // Another program has created it first.
      return try AppGroup.open(.local, root: root)
    }
  }

  /// A tone of 440 Hz at half the range, in all channels.
  private static func fillWithTone(_ loan: inout FrameLoan, _ segment: Segment, _ number: Int) {
    var bytes = loan.bytes
    let frameCount = segment.format.byteCount / 2 / segment.channelCount
    for index in 0..<segment.format.byteCount / 2 {
      let time = Double(number * frameCount + index / segment.channelCount)
      let value = 16_384 * sin(2 * .pi * 440 * time / Double(segment.sampleRate))
      // SAFETY: these samples of two bytes fit into the format's size, which the slot holds.
      unsafe bytes.storeBytes(
        of: Int16(value), toUncheckedByteOffset: 2 * index, as: Int16.self)
    }
  }

  /// In the terms of EXIF, orientations 1 to 8 name the sides of the upright picture that the first
  /// row and column are: so they decide whether its upper left corner is in the last row or column.
  private static func fillWithMark(_ loan: inout FrameLoan, _ segment: Segment) {
    let number = segment.orientation.rawValue
    let (isLastRow, isLastColumn) = ([3, 4, 6, 7].contains(number), [2, 3, 7, 8].contains(number))
    let (width, height) = (segment.format.width, segment.format.height)
    let side = min(width, height) / 4
    var bytes = loan.bytes
    for row in 0..<height {
      let isMarkedRow = isLastRow ? row >= height - side : row < side
      for column in 0..<width {
        let isMarkedColumn = isLastColumn ? column >= width - side : column < side
        let offset = segment.format.planes[0].offset + row * segment.format.planes[0].stride
        // SAFETY: the pixel lies within the format's size, which the slot holds.
        unsafe bytes.storeBytes(
          of: isMarkedRow && isMarkedColumn ? 0xffff_ffff : 0x4040_4040,
          toUncheckedByteOffset: offset + column * 4, as: UInt32.self)
      }
    }
  }

  /// Grey in every format of one byte per sample: in RGB, and in YUV with neutral chroma.
  private static func fill(_ loan: inout FrameLoan, _ segment: Segment, _ number: Int) {
    let (format, isNoisy) = (segment.format, segment.isNoisy)
    if segment.isUntouched { return }
    if segment.isMarked { return fillWithMark(&loan, segment) }
    if segment.isTone { return fillWithTone(&loan, segment, number) }
    if format.kind != .video {
      var bytes = loan.bytes
      for index in 0..<format.byteCount {
        // SAFETY: the index is less than the format's size, which the slot holds.
        unsafe bytes.storeBytes(
          of: index % 2 == 0 ? 0 : 0x40, toUncheckedByteOffset: index, as: UInt8.self)
      }
      return
    }
    let level = UInt8(16 + 8 * (number % 24))
    var bytes = loan.bytes
    let chroma = format.planes.count > 1 ? format.planes[1].offset : format.byteCount
    var noise = UInt64(number + 1)
    for index in 0..<format.byteCount {
      if isNoisy { noise = noise &* 6_364_136_223_846_793_005 &+ 1 }
      let value = isNoisy ? UInt8(truncatingIfNeeded: noise >> 56) : index < chroma ? level : 128
      // SAFETY: the index is less than the format's size, which the slot holds.
      unsafe bytes.storeBytes(of: value, toUncheckedByteOffset: index, as: UInt8.self)
    }
  }
}

struct WrongArguments: Error {}

struct Segment {
  let format: FrameFormat
  let count: Int
  let isNoisy: Bool
  let isTone: Bool
  let isMarked: Bool
  let isUntouched: Bool
  let orientation: Orientation
  let sampleRate: Int
  let channelCount: Int
  let intervalNs: Int64

  init(_ text: String) throws {
    let parts = text.split(separator: ":").map(String.init)
    guard parts.count == 4, let fourcc = Self.fourcc(parts[0]),
      let count = Int(parts[2]),
      let microseconds = Int64(parts[3])
    else { throw WrongArguments() }
    let sides = parts[1].split(separator: "x").compactMap { Int($0) }
    guard sides.count == 2 else { throw WrongArguments() }
    isMarked = parts[0].hasPrefix("MARK")
    orientation = UInt8(parts[0].dropFirst(4)).flatMap(Orientation.init) ?? .up
    if fourcc == .pcm {
      let sound = try AudioFormat(.s16le, sampleRate: sides[0], channelCount: sides[1])
      let sampleFrames = sides[0] * Int(microseconds) / 1_000_000
      format = try .audio(.appAudio, sound, maximumSampleFrameCount: sampleFrames)
    } else {
      let rate = FrameRate(
        parts[0] == "FAST" ? Int(UInt32.max) : Int(1_000_000 / microseconds), 1)
      let (width, height) =
        orientation.swapsSides ? (sides[1], sides[0]) : (sides[0], sides[1])
      let usual = try FrameFormat.video(fourcc, width: width, height: height, frameRate: rate)
      format = parts[0] == "WIDE" ? try usual.withLongestStride() : usual
    }
    self.count = count
    isNoisy = parts[0] == "NOIS"
    isTone = parts[0] == "TONE"
    isUntouched = ["HOLE", "WIDE", "FAST"].contains(parts[0])
    (sampleRate, channelCount) = (sides[0], sides[1])
    intervalNs = microseconds * 1000
  }

  private static func fourcc(_ name: String) -> FourCC? {
    switch name {
    case "NOIS", "HOLE", "WIDE", "FAST": .xrgb8888
    case let name where name.hasPrefix("MARK"): .xrgb8888
    case "PCM", "TONE": .pcm
    default: FourCC(name)
    }
  }
}

extension FrameFormat {
  /// The format with the rows of one plane as far apart as possible: a picture of one row needs no
  /// more bytes for it.
  fileprivate func withLongestStride() throws -> FrameFormat {
    let plane = Plane(offset: 0, stride: Int(UInt32.max))
    return try FrameFormat(
      kind: kind, fourcc: fourcc, width: width, height: height, planes: [plane],
      byteCount: byteCount, frameRate: frameRate)
  }
}
