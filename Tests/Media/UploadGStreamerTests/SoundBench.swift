import Foundation
import Platform
import Synchronization
import TestSupport
import Testing

/// A tone and pictures of one clock, uploaded, and decoded by an independent program.
final class SoundBench: Sendable {
  let root: TemporaryRoot
  let ports = Mutex<[OwnPort]>([])

  init() throws { root = try TemporaryRoot() }

  func file(_ name: String) -> String { root.file(name) }

  func capture(_ source: String, _ arguments: String...) throws -> RunningProgram {
    try RunningProgram("framebus", ["capture", source, "--root", root.path] + arguments)
  }

  func upload(
    _ destination: String, seconds: Double, _ arguments: [String] = []
  ) throws -> ProgramResult {
    try RunningProgram(
      "framebus",
      [
        "upload", destination, "--root", root.path, "--json", "--stream", "screen", "--stream",
        "audio.app", "--duration", "\(seconds)",
      ] + arguments
    ).finish()
  }

  /// Sends flashes and beeps for a number of seconds.
  func sendFlashesAndBeeps(
    to destination: String, seconds: Double, _ arguments: String...
  ) throws {
    let pictures = try capture("test:flash", "--size", "320x240")
    let sound = try capture("beep:1000")
    let result = try upload(destination, seconds: seconds, ["--skew"] + arguments)
    #expect(result.status == .exited(0), "\(result.errors)")
    #expect(result.output.contains("\"skew_ns\":"))
    try pictures.end(with: 15)
    let heard = try sound.end(with: 15).errors
    #expect(heard.components(separatedBy: "sound is 48000 Hz, 2 channels").count == 2, "\(heard)")
  }
}

/// A recording with sound, decoded by ffmpeg.
struct Heard {
  static let rate = 48_000.0
  let codecs: [String]
  /// One channel, from the beginning of the file.
  let samples: [Float]
  /// When the picture turns white, in seconds.
  let flashes: [Double]

  init(_ path: String) throws {
    codecs = try output(
      of: "ffprobe", ["-v", "error", "-show_entries", "stream=codec_name", "-of", "csv=p=0", path]
    ).split { $0 == "\n" || $0 == "," }.map(String.init)
    // A transport stream begins at any time; in Matroska, both tracks begin at 0.
    let plain = path + ".plain.mkv"
    _ = try output(of: "ffmpeg", ["-v", "error", "-y", "-i", path, "-c", "copy", plain])
    samples = try Self.samples(plain)
    flashes = codecs.contains("h264") ? try Self.flashes(plain) : []
  }

  private static func samples(_ path: String) throws -> [Float] {
    let program = try RunningProgram(
      "ffmpeg",
      [
        "-v", "error", "-i", path, "-map", "0:a", "-af", "aresample=async=1:first_pts=0", "-ac",
        "1", "-ar", "48000", "-f", "s16le", "-",
      ])
    let result = try program.finish()
    guard result.status.isSuccess else { throw HarnessError(result.errors) }
    let bytes = program.output.bytes
    return stride(from: 0, to: bytes.count - 1, by: 2).map {
      Float(Int16(truncatingIfNeeded: Int(bytes[$0]) | Int(bytes[$0 + 1]) << 8)) / 32_768
    }
  }

  private static func flashes(_ path: String) throws -> [Double] {
    let lines = try output(
      of: "ffprobe",
      [
        "-v", "error", "-f", "lavfi", "-i", "movie=\(path),signalstats", "-show_entries",
        "frame=pts_time:frame_tags=lavfi.signalstats.YAVG", "-of", "csv=p=0",
      ]
    ).split(separator: "\n").map { $0.split(separator: ",").compactMap { Double($0) } }
    var wasWhite = false
    return lines.filter { $0.count >= 2 }.compactMap { line in
      defer { wasWhite = line[1] > 120 }
      return line[1] > 120 && !wasWhite ? line[0] : nil
    }
  }

  /// The start times of beeps that follow a tenth of a second of silence.
  var beeps: [Double] {
    var last = -1.0
    return samples.indices.compactMap { index in
      guard abs(samples[index]) > 0.1 else { return nil }
      let time = Double(index) / Self.rate
      defer { last = time }
      return time - last > 0.1 ? time : nil
    }
  }

  /// The amplitude of a tone of a frequency within a period (Goertzel).
  func level(_ hertz: Double, from: Double, to: Double) -> Double {
    let part = samples.dropFirst(Int(from * Self.rate)).prefix(Int((to - from) * Self.rate))
    let factor = 2 * cos(2 * Double.pi * hertz / Self.rate)
    var (before, last) = (0.0, 0.0)
    for sample in part { (before, last) = (last, Double(sample) + factor * last - before) }
    let power = last * last + before * before - factor * last * before
    return part.isEmpty ? 0 : 2 * max(0, power).squareRoot() / Double(part.count)
  }

  /// The delay of a beep after its flash, in seconds. A busy machine may draw a flash late, but
  /// never a beep, so the closest pair gives the difference of the clocks.
  var skew: Double? {
    let pairs = flashes.flatMap { flash in beeps.map { $0 - flash } }
    return pairs.min { abs($0) < abs($1) }
  }

  /// The frequency of the longest period of sound, by its rising zero crossings.
  var hertz: Double? {
    var best: Range<Int> = 0..<0
    var start = 0
    var quiet = 0
    for index in samples.indices {
      quiet = abs(samples[index]) < 0.02 ? quiet + 1 : 0
      if quiet > 240 { start = index + 1 }
      if index - start > best.count { best = start..<index }
    }
    var first: Double?
    var last = 0.0
    var count = 0
    // An encoder rings at its beginning and end.
    for index in best.dropFirst(2_400).dropLast(2_400) {
      let (before, after) = (samples[index], samples[index + 1])
      guard before < 0, after >= 0 else { continue }
      last = Double(index) + Double(before / (before - after))
      if first == nil { first = last } else { count += 1 }
    }
    guard let first, count > 100 else { return nil }
    return Double(count) / (last - first) * Self.rate
  }
}
