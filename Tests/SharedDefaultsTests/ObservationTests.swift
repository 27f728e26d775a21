import Foundation
import Synchronization
import TestSupport
import Testing

@testable import SharedDefaults

/// Changes reach observers in other processes; a final value is never lost.
@Suite struct ObservationTests {
  @Test func anotherProcessIsNotifiedOfAKey() throws {
    let world = try DefaultsWorld()
    let defaults = try world.open()
    let watcher = try world.worker("watch", "key=whipURL")
    try watcher.waitForOutput("watching")
    // The suite does not exist yet.
    try defaults.set("https://a", forKey: "whipURL")
    try watcher.waitForOutput("whipURL=string(\"https://a\").")
    try defaults.set("else", forKey: "other")
    try defaults.set("https://b", forKey: "whipURL")
    try watcher.waitForOutput("whipURL=string(\"https://b\").")
    try defaults.removeObject(forKey: "whipURL")
    try watcher.waitForOutput("whipURL=none.")
    #expect(!watcher.output.text.contains("other"))
    try defaults.set("https://c", forKey: "whipURL")
    try watcher.waitForOutput("https://c")
    try defaults.removeSuite()
    try waitUntil("the removal is told") {
      watcher.output.text.components(separatedBy: "whipURL=none.").count == 3
    }
  }

  @Test func observerWithoutAKeyIsNotifiedOfEveryKey() throws {
    let world = try DefaultsWorld()
    let defaults = try world.open()
    try defaults.set(0, forKey: "before")
    let watcher = try world.worker("watch")
    try watcher.waitForOutput("watching")
    try defaults.update {
      $0["a"] = 1
      $0["b"] = 2
      $0["before"] = nil
    }
    try watcher.waitForOutput("a=integer(1).\nb=integer(2).\nbefore=none.")
  }

  @Test func busyObserverReceivesTheLatestValueAfterwards() throws {
    let world = try DefaultsWorld()
    let defaults = try world.open()
    let watcher = try world.worker("watch", "key=n", "busyMs=20")
    try watcher.waitForOutput("watching")
    for number in 1...3000 { try defaults.set(number, forKey: "n") }
    try watcher.waitForOutput("n=integer(3000).")
    let reported = watcher.output.text.split(separator: "\n").dropFirst()
    let numbers = reported.compactMap { Int($0.filter(\.isNumber)) }
    #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
    #expect(numbers.count < 3000)
  }

  @Test func changeOfAWriterThatDiedBeforeNotifyingIsReported() throws {
    let world = try DefaultsWorld()
    try world.open().set("old", forKey: "key")
    let watcher = try world.worker("watch", "key=key", "recheckMs=50")
    try watcher.waitForOutput("watching")
    let victim = try world.worker("set", "killAt=\(DefaultsStep.extentMoved.rawValue)")
    #expect(try victim.finish().status == .killed(signal: 9))
    try watcher.waitForOutput("key=string(\"new\").")
  }

  @Test func taskReceivesThePresentValueAndThenLaterOnes() throws {
    let world = try DefaultsWorld()
    let defaults = try world.open()
    let task = try world.worker("values", "key=state")
    try task.waitForOutput("value none.")
    for state in ["started", "paused"] {
      try defaults.set(state, forKey: "state")
      try task.waitForOutput("value string(\"\(state)\").")
    }
    try defaults.removeObject(forKey: "state")
    try waitUntil("the removal is given") {
      task.output.text.components(separatedBy: "value none.").count == 3
    }
    try defaults.set("end", forKey: "state")
    try task.waitForOutput("ended")
    #expect(try task.finish().status.isSuccess)
  }

  @Test func cancelledAndReleasedObserversAreNotCalled() throws {
    let world = try DefaultsWorld()
    let defaults = try world.open()
    let reported = Reported()
    let cancelled = try defaults.observe { reported.add("cancelled \($0.key)") }
    var gone: DefaultsObservation? = try defaults.observe { reported.add("gone \($0.key)") }
    let kept = try defaults.observe { reported.add("kept \($0.key)") }
    try defaults.set(1, forKey: "a")
    try waitUntil("all are told") { reported.texts.count == 3 }
    cancelled.cancel()
    cancelled.cancel()
    withExtendedLifetime(gone) {}
    gone = nil
    try defaults.set(2, forKey: "b")
    try waitUntil("the one that is left is told") { reported.texts.contains("kept b") }
    #expect(reported.texts.count == 4)
    withExtendedLifetime(kept) {}
  }

  @Test func closureMayChangeTheSuiteAndCancelItself() throws {
    let world = try DefaultsWorld()
    let defaults = try world.open()
    let reported = Reported()
    let kept = Kept()
    kept.observation = try defaults.observe("ping", startingWithCurrent: true) { change in
      guard let value = change.value else { return }
      reported.add("\(value)")
      try? defaults.set(value, forKey: "pong")
      kept.observation?.cancel()
    }
    try defaults.set(1, forKey: "ping")
    try waitUntil("the closure has answered") { defaults.integer(forKey: "pong") == 1 }
    try defaults.set(2, forKey: "ping")
    let other = try defaults.observe("ping") {
      reported.add("other \($0.value.map { "\($0)" } ?? "")")
    }
    try defaults.set(3, forKey: "ping")
    try waitUntil("another is told") { reported.texts.contains("other integer(3)") }
    #expect(reported.texts == ["integer(1)", "other integer(3)"])
    withExtendedLifetime(other) {}
  }

  @Test func objectWithoutObserversIsReleased() throws {
    let world = try DefaultsWorld()
    weak var gone: SharedDefaults?
    do {
      let defaults = try world.open()
      gone = defaults
      let observation = try defaults.observe { _ in }
      withExtendedLifetime(observation) {}
    }
    try waitUntil("the object is gone") { gone == nil }
  }
}

/// The changes that closures received, on the thread that calls them.
private final class Reported: Sendable {
  private let list = Mutex<[String]>([])
  var texts: [String] { list.withLock { $0 } }
  func add(_ text: String) { list.withLock { $0.append(text) } }
}

private final class Kept: Sendable {
  private let kept = Mutex<DefaultsObservation?>(nil)
  var observation: DefaultsObservation? {
    get { kept.withLock { $0 } }
    set { kept.withLock { $0 = newValue } }
  }
}
