import Foundation
import Platform
import TestSupport
import Testing

@Suite(.serialized) struct FileTests {
  @Test func videoFileIsUploadedWithEveryFrame() throws {
    let scene = try Scene()
    let source = scene.file("source.mkv")
    try output(
      of: "ffmpeg",
      [
        "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=641x361:rate=30:duration=6", "-c:v",
        "ffv1",
        "-pix_fmt", "yuv444p", source,
      ])
    let truth = try Recording(source)
    #expect(truth.frameCount == 180)
    let copy = scene.file("copy.mkv")
    // The uploader starts first: it waits for the stream, and the file waits for it.
    let upload = try scene.start("upload", "file:\(copy)", "--json")
    let capture = try scene.run("capture", "file:\(source)")
    #expect(capture.status == .exited(0), "\(capture.errors)")
    let result = try upload.finish()
    #expect(result.status == .exited(0), "\(result.errors)")
    #expect(result.output.contains("\"drops\" : 0") || result.output.contains("\"drops\":0"))

    let recording = try Recording(copy)
    #expect(recording.frameCount == truth.frameCount)
    #expect(recording.width == 640 && recording.height == 360)
    for (original, copied) in zip(truth.times, recording.times) {
      #expect(abs((original - truth.times[0]) - copied) < 0.0011)
    }
    // Each frame is the expected one: its own original is closer than the neighbouring ones.
    for index in stride(from: 5, to: 175, by: 10) {
      let distances = (index - 2...index + 2).map { candidate in
        distance(recording.picture(index), truth.picture(candidate), truth.width)
      }
      #expect(distances.min() == distances[2], "frame \(index): \(distances)")
    }
  }

  /// The mean difference over the columns and rows that both have.
  private func distance(
    _ small: ArraySlice<UInt8>, _ large: ArraySlice<UInt8>, _ largeWidth: Int
  ) -> Double {
    var sum = 0
    for row in stride(from: 0, to: 360, by: 3) {
      for column in stride(from: 0, to: 640, by: 3) {
        let left = small[small.startIndex + row * 640 + column]
        let right = large[large.startIndex + row * largeWidth + column]
        sum += abs(Int(left) - Int(right))
      }
    }
    return Double(sum)
  }
}
