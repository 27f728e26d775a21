import CFrameLayout
import Platform

/// The memory that a subscriber alone writes: its page, and a semaphore if it asked for one. The
/// publisher makes it, and seals it once it is mapped here.
final class OwnMemory: Sendable {
  let page: Mapping
  let semaphore: WakeSemaphore?

  /// Maps what a publisher sent, after checking it.
  init(_ message: inout Message) throws(Attachment.Untrusted) {
    guard message.record(fb_short_message(), kind: Int(FB_MESSAGE_PAGE)) != nil,
      !message.isTruncated, (1...2).contains(message.descriptorCount),
      let memory = message.takeDescriptor()
    else { throw Attachment.Untrusted("it answers garbage") }
    guard let file = MemoryFile(received: memory, byteCount: PageRow.pageBytes),
      let page = try? Mapping(file, .readAndWrite)
    else { throw Attachment.Untrusted("its page is not sealed as it must be") }
    self.page = page
    guard let memory = message.takeDescriptor() else {
      semaphore = nil
      return
    }
    guard let semaphore = WakeSemaphore(received: memory) else {
      throw Attachment.Untrusted("its semaphore is not sealed as it must be")
    }
    self.semaphore = semaphore
  }
}
