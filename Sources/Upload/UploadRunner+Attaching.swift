import FrameBus
import Platform

extension UploadRunner {
  /// A subscription, and what it was granted.
  struct Attachment: ~Copyable {
    var subscriber: Subscriber
    let isLossless: Bool
  }

  /// Subscribes, and waits for the stream if it does not exist yet.
  /// - Returns: nil when the signal was raised first.
  func attach(holds: Int) throws(UploadError) -> Attachment? {
    return nil
  }
}
