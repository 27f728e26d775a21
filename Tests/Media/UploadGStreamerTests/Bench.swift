import AppGroup
import Foundation
import Platform
import TestSupport
import Testing

/// A group, a publisher of known frames and the uploader, each in its own process.
final class Bench: Sendable {
  let root: TemporaryRoot

  init() throws {
    root = try TemporaryRoot()
    _ = try AppGroup.create(.local, root: root.path)
  }

  func file(_ name: String) -> String { root.file(name) }

  func publish(_ mode: String, _ segments: String...) throws -> RunningProgram {
    try RunningProgram("UploadTestPublisher", [root.path, "screen", mode] + segments)
  }

  func upload(
    _ arguments: String..., environment: [String: String?] = [:]
  ) throws -> RunningProgram {
    try RunningProgram(
      "framebus", ["upload", "--root", root.path, "--json"] + arguments, environment: environment)
  }

  func snapshot(_ path: String) throws -> ProgramResult {
    try RunningProgram("framebus", ["snapshot", "screen", path, "--root", root.path]).finish()
  }

  /// Publishes the segments, uploads them completely, and returns the publisher's timestamps.
  func record(_ path: String, _ mode: String, _ segments: String...) throws -> [Int64] {
    let uploader = try upload("file:\(path)")
    let publisher = try RunningProgram(
      "UploadTestPublisher", [root.path, "screen", mode] + segments)
    let result = try uploader.finish()
    #expect(result.status == .exited(0), "\(result.errors)")
    return try publisher.finish().output.split(separator: "\n").compactMap { Int64($0) }
  }
}

/// The contents of a file according to independent tools.
struct Recording {
  let path: String
  let width: Int
  let height: Int
  /// Presentation times in nanoseconds, in packet order.
  let timesNs: [Int64]
  /// Mean brightness of each decoded frame, 0…255.
  let levels: [Int]

  init(_ path: String) throws {
    self.path = path
    let stream = try output(
      of: "ffprobe",
      [
        "-v", "error", "-select_streams", "v", "-show_entries", "stream=width,height", "-of",
        "csv=p=0", path,
      ])
    let sides = stream.split { $0 == "," || $0 == "\n" }.compactMap { Int($0) }
    guard sides.count >= 2 else { throw HarnessError("no video in \(path)") }
    (width, height) = (sides[0], sides[1])
    timesNs = try output(
      of: "ffprobe",
      [
        "-v", "error", "-select_streams", "v", "-show_entries", "packet=pts_time", "-of",
        "csv=p=0", path,
      ]
    ).split { $0 == "," || $0 == "\n" }.compactMap { Double($0) }
      .map { Int64(($0 * 1e9).rounded()) }
    levels = try Self.levels(path)
  }

  /// ffmpeg scales each decoded frame to one grey pixel.
  private static func levels(_ path: String) throws -> [Int] {
    let program = try RunningProgram(
      "ffmpeg",
      [
        "-v", "error", "-i", path, "-fps_mode", "passthrough", "-vf",
        "scale=1:1:flags=area,format=rgb24", "-f", "rawvideo", "-",
      ])
    let result = try program.finish()
    guard result.status.isSuccess else { throw HarnessError(result.errors) }
    let bytes = program.output.bytes
    return stride(from: 0, to: bytes.count - 2, by: 3).map { Int(bytes[$0]) }
  }

  var isRising: Bool { zip(timesNs, timesNs.dropFirst()).allSatisfy { $0 < $1 } }
}

/// The brightness of the test publisher's frame of this number.
func level(_ number: Int) -> Int { 16 + 8 * (number % 24) }
