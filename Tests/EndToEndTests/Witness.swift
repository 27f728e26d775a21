import Foundation
import Platform
import TestSupport

/// The independent program that draws numbers on a screen (Tests/Tools/draw_numbers.py), and its
/// output.
final class Witness: Sendable {
  static let block = 32
  let program: RunningProgram

  init(on screen: VirtualScreen, interval: Double = 0.05, count: Int = 10_000) throws {
    program = try screen.show(
      "/usr/bin/python3", [tool("draw_numbers.py"), "\(interval)", "\(count)"])
    try program.waitForOutput("\n")
  }

  /// The time at which each number had been drawn, `CLOCK_MONOTONIC`, from the number 1.
  var drawnAtNs: [Int64] {
    program.output.text.split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ")
      return words.count == 2 ? Int64(words[1]) : nil
    }
  }

  /// The number drawn in a grey picture, or nil if there is no valid number.
  static func number(in luma: ArraySlice<UInt8>, width: Int) -> Int? {
    let bits = (0..<20).map { index in
      luma[luma.startIndex + block / 2 * width + index * block + block / 2] > 127
    }
    guard bits[0], !bits[18], bits[19] else { return nil }
    let number = bits[1...16].reduce(0) { $0 << 1 | ($1 ? 1 : 0) }
    return bits[17] == (number.nonzeroBitCount % 2 == 1) ? number : nil
  }
}

/// A recorded file, as ffmpeg's own tools read it.
struct Recording {
  let width: Int
  let height: Int
  /// Presentation times in seconds, in file order.
  let times: [Double]
  /// Grey pictures, one after another.
  let luma: [UInt8]

  init(_ path: String) throws {
    let fields = try output(
      of: "ffprobe",
      [
        "-v", "error", "-select_streams", "v:0", "-show_entries", "stream=width,height",
        "-of", "csv=p=0", path,
      ]
    ).split(whereSeparator: { ",\n".contains($0) }).compactMap { Int($0) }
    guard fields.count == 2 else { throw HarnessError("ffprobe found no picture in \(path)") }
    (width, height) = (fields[0], fields[1])
    times = try output(
      of: "ffprobe",
      [
        "-v", "error", "-select_streams", "v:0", "-show_entries", "frame=pts_time",
        "-of", "csv=p=0", path,
      ]
    ).split(whereSeparator: { ",\n".contains($0) }).compactMap { Double($0) }
    let decoder = try RunningProgram(
      "ffmpeg",
      [
        "-v", "error", "-i", path, "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", "gray",
        "-",
      ])
    let result = try decoder.finish()
    guard result.status.isSuccess else { throw HarnessError(result.errors) }
    luma = decoder.output.bytes
  }

  var frameCount: Int { luma.count / (width * height) }

  func picture(_ index: Int) -> ArraySlice<UInt8> {
    luma[(index * width * height)..<((index + 1) * width * height)]
  }

  /// The number drawn in each frame.
  var numbers: [Int?] { (0..<frameCount).map { Witness.number(in: picture($0), width: width) } }
}
