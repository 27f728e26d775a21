import AppGroup
import DarwinNotifications
import NotifyCenter
import Platform
import Synchronization
import TestSupport
import Testing

/// The functions that the sample code does not call, in one process.
@Suite struct DarwinCenterTests {
  private let root: TemporaryRoot
  private let center: CFNotificationCenter
  private let name = CFNotificationName("go")

  init() throws {
    root = try TemporaryRoot()
    let group = try AppGroup.create(GroupID("a.b"), root: root.path)
    center = CFNotificationCenter(try NotifyCenter(group, role: .host))
  }

  private final class Counter: Sendable {
    private let count = Atomic<Int>(0)
    func add() { count.add(1, ordering: .relaxed) }  // Relaxed: a plain counter.
    var value: Int { count.load(ordering: .relaxed) }  // Relaxed: as above.
  }

  private func add(_ observer: Int, _ name: String, _ counter: Counter) {
    CFNotificationCenterAddObserver(
      center, UnsafeRawPointer(bitPattern: observer),
      { (center, pointer, name, object, info) in
        #expect(center != nil && object == nil && info == nil)
        #expect(UnsafeRawPointer(pointer) == UnsafeRawPointer(bitPattern: observer))
        counter.add()
      }, name as CFString, nil, .coalesce)
  }

  private func post(_ name: CFNotificationName) {
    CFNotificationCenterPostNotification(center, name, nil, nil, false)
  }

  @Test func observerIsRemovedByNameOrCompletely() throws {
    let (first, second, last) = (Counter(), Counter(), Counter())
    add(8, "go", first)
    add(8, "stop", second)
    add(16, "go", last)
    post(name)
    post(CFNotificationName(rawValue: "stop"))
    try waitUntil("all are called") { first.value + second.value + last.value == 3 }
    CFNotificationCenterRemoveObserver(center, UnsafeRawPointer(bitPattern: 8), name, nil)
    post(name)
    post(CFNotificationName("stop"))
    try waitUntil("two are called") { second.value + last.value == 4 }
    CFNotificationCenterRemoveEveryObserver(center, UnsafeRawPointer(bitPattern: 8))
    post(CFNotificationName("stop"))
    post(name)
    try waitUntil("one is called") { last.value == 3 }
    #expect(first.value == 1)
    #expect(second.value == 2)
  }

  @Test func observerRemovedByItsFirstCallIsNotCalledAgain() throws {
    let isOver = Counter()
    let hasEnded = PrivateFutexWord()
    // Posts so fast that observers are called while they are being added.
    try startThread(named: "poster") { [center, name] in
      while isOver.value == 0 {
        CFNotificationCenterPostNotification(center, name, nil, nil, false)
      }
      hasEnded.store(1)
    }
    let calls = (1...2000).map { number in
      let calls = Counter()
      CFNotificationCenterAddObserver(
        center, UnsafeRawPointer(bitPattern: number),
        { (center, observer, _, _, _) in
          calls.add()
          CFNotificationCenterRemoveEveryObserver(center, observer)
        }, name.rawValue, nil, .coalesce)
      return calls
    }
    try waitUntil("all are called") { calls.allSatisfy { $0.value > 0 } }
    isOver.add()
    try waitUntil("the poster has ended") { hasEnded.load() == 1 }
    #expect(calls.filter { $0.value > 1 }.isEmpty)
  }

  @Test func missingNameOrCallbackDoesNothing() {
    CFNotificationCenterAddObserver(center, nil, nil, "go", nil, .drop)
    CFNotificationCenterAddObserver(center, nil, { _, _, _, _, _ in }, nil, nil, .hold)
    CFNotificationCenterPostNotification(center, nil, nil, nil, true)
    CFNotificationCenterRemoveObserver(nil, nil, nil, nil)
  }
}
