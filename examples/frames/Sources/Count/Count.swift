import AppGroup
import Foundation
import FrameBus

/// Receives the frames of `Paint` and reads each in the publisher's memory.
@main struct Count {
  static func main() async {
    do { try await count() } catch {
      FileHandle.standardError.write(Data("error: \(error)\n".utf8))
      exit(1)
    }
  }

  static func count() async throws {
    let group = try AppGroup.open(.local)
    var subscriber = try Subscriber(
      StreamName("canvas"), in: group, waitingForPublisherUntil: .after(.seconds(60)))
    while let frame = try await subscriber.next() {
      let shade = frame.withUnsafeBytes { $0[0] }
      print("frame \(frame.sequence), \(frame.format.width)×\(frame.format.height): \(shade)")
    }
    print("\(subscriber.receivedCount) received, \(subscriber.droppedCount) dropped")
  }
}
