import AppGroup
import Capture
import Foundation
import FrameBus
import ScreenRecorder

@main struct RecordTheScreen {
  static func main() {
    do { try record() } catch {
      FileHandle.standardError.write(Data("error: \(error)\n".utf8))
      exit(1)
    }
  }

  static func record() throws {
    let recorder = ScreenRecorder(in: try AppGroup.open(.local), stream: try StreamName("recorder"))
    var options = ScreenRecorder.Options()
    options.capture.protection = .on([try WindowRule("KeePassXC")])
    try recorder.startCapture(
      options,
      onPause: { print("paused: \($0.explanation)") },
      onResume: { print("resumed") },
      onNotice: { print($0) }
    ) { frame in
      let sum = frame.withUnsafeBytes { $0.reduce(0) { $0 &+ UInt64($1) } }
      print("frame \(frame.sequence), \(frame.format.width)×\(frame.format.height): \(sum)")
      if frame.sequence.rawValue >= 100 { recorder.stopCapture() }
    }
    try recorder.waitUntilEnded()
  }
}
