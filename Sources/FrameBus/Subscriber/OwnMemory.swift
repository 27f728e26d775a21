import CFrameLayout
import Platform

/// The memory that only a subscriber writes: its page, and a semaphore if it requested one. The
/// publisher creates it, and seals it once the subscriber has mapped it.
final class OwnMemory: Sendable {
  let page: Mapping
  let semaphore: WakeSemaphore?

  /// Checks and maps the memory that a publisher sent.
  init(_ message: inout Message) throws(Attachment.Untrusted) {
    guard message.record(fb_short_message(), kind: Int(FB_MESSAGE_PAGE)) != nil,
      !message.isTruncated, (1...2).contains(message.descriptorCount),
      let memory = message.takeDescriptor()
    else { throw Attachment.Untrusted("its answer is malformed") }
    guard let file = MemoryFile(received: memory, byteCount: PageRow.pageBytes),
      let page = try? Mapping(file, .readAndWrite)
    else { throw Attachment.Untrusted("its page lacks the required seals") }
    self.page = page
    guard let memory = message.takeDescriptor() else {
      semaphore = nil
      return
    }
    guard let semaphore = WakeSemaphore(received: memory) else {
      throw Attachment.Untrusted("its semaphore lacks the required seals")
    }
    self.semaphore = semaphore
  }
}
