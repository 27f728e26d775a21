import Foundation
import Platform
import Synchronization

/// The output of a child to one of its streams, collected by a separate thread, so that the child
/// never blocks on a full pipe.
package final class ProgramOutput: Sendable {
  private struct State {
    var bytes: [UInt8] = []
    var isFinished = false
  }

  private let state = Mutex(State())
  private let changed = PrivateFutexWord()

  /// Reads until every writer has closed its end.
  init(reading end: consuming Descriptor) throws {
    let number = end.release()
    try startThread(named: "test output") { [self] in
      let end = Descriptor(owning: number)
      while let bytes = try? readSome(end.number), !bytes.isEmpty {
        state.withLock { $0.bytes += bytes }
        announce()
      }
      state.withLock { $0.isFinished = true }
      announce()
    }
  }

  package var text: String { String(decoding: state.withLock { $0.bytes }, as: UTF8.self) }
  package var bytes: [UInt8] { state.withLock { $0.bytes } }

  /// Waits until the text meets the condition.
  /// - Returns: false if the stream ended or the deadline passed first.
  package func wait(until deadline: Deadline, for condition: (String) -> Bool) -> Bool {
    wait(until: deadline, meeting: { condition(String(decoding: $0.bytes, as: UTF8.self)) })
  }

  /// Waits until every writer has closed its end.
  func waitForEnd(until deadline: Deadline) {
    _ = wait(until: deadline, meeting: { $0.isFinished })
  }

  private func wait(until deadline: Deadline, meeting condition: (borrowing State) -> Bool) -> Bool
  {
    while true {
      let seen = changed.load()
      // Under the lock, because each piece of output would otherwise copy all bytes.
      let (isMet, isFinished) = state.withLock { (condition($0), $0.isFinished) }
      if isMet { return true }
      if isFinished || deadline.isPast { return false }
      // SAFETY: the only word belongs to this object.
      unsafe sleepOnFutexes(
        shared: nil, expecting: 0, privates: (first: changed, expecting: seen), until: deadline)
    }
  }

  private func announce() {
    changed.increment()
    changed.wakeAll()
  }
}
