import AppGroup
import Foundation
import FrameBus

/// Publishes ten seconds of a picture that grows brighter, while it has a subscriber.
@main struct Paint {
  static func main() async {
    do { try await paint() } catch {
      FileHandle.standardError.write(Data("error: \(error)\n".utf8))
      exit(1)
    }
  }

  static func paint() async throws {
    let group = try AppGroup.open(.local)
    let format = try FrameFormat.video(
      .xrgb8888, width: 640, height: 360, frameRate: FrameRate(25))
    var publisher = try Publisher(StreamName("canvas"), in: group, format: format)
    for shade in 0..<UInt32(250) where publisher.waitForSubscriber(until: .after(.seconds(60))) {
      var loan = try publisher.loan()
      var bytes = loan.bytes
      for offset in stride(from: 0, to: format.byteCount, by: 4) {
        bytes.storeBytes(of: shade &* 0x010101, toByteOffset: offset, as: UInt32.self)
      }
      _ = loan.publish()
      try await Task.sleep(for: .milliseconds(40))
    }
    publisher.finish(.ended)
  }
}
