import Foundation
import TestSupport
import Testing

@testable import Platform

/// Files that another process truncates while they are mapped.
@Suite final class GuardedMappingTests {
  private let root: TemporaryRoot
  private let file: Descriptor

  init() throws {
    root = try TemporaryRoot()
    file = try Directory(path: root.path).makeFile("shared", byteCount: 8192, mode: 0o600)
  }

  private func truncateByAnother(to byteCount: Int) throws {
    try output(of: "truncate", ["--size=\(byteCount)", root.file("shared")])
  }

  @Test func aPageThatWasTruncatedAwayReadsAsZerosAndIsNoted() throws {
    let mapping = try GuardedMapping(file, byteCount: 8192)
    mapping.storeReleasing32(7, at: 0)
    mapping.storeReleasing64(8, at: 4096)
    try truncateByAnother(to: 4096)
    expect(mapping.loadAcquiring32(at: 0), 7)
    expect(mapping.isLost, false)
    expect(mapping.loadAcquiring64(at: 4096), 0)
    expect(mapping.isLost, true)
    // Ours from here on, whatever becomes of the file.
    mapping.add32(3, at: 4100)
    try truncateByAnother(to: 8192)
    expect(mapping.loadAcquiring32(at: 4100), 3)
    expect(mapping.loadAcquiring32(at: 0), 7)
  }

  @Test(arguments: 0...5)
  func everyKindOfAccessSurvivesTheLoss(_ access: Int) throws {
    let mapping = try GuardedMapping(file, byteCount: 8192)
    try truncateByAnother(to: 0)
    switch access {
    case 0: mapping.storeReleasing32(1, at: 8)
    case 1: expect(mapping.replace64(9, with: 1, at: 8), false)
    case 2: mapping.add64(1, at: 8)
    case 3: try mapping.initializeSemaphore(at: 16, value: 1)
    case 4: expect(mapping.replace32(9, with: 1, at: 8), false)
    default:
      // The kernel's own accesses fail without a signal.
      mapping.sleep(while: 0, is: 0, stop: nil, until: .after(.seconds(60)))
      mapping.wake(1, at: 0)
      expect(mapping.loadAcquiring32(at: 0), 0)
    }
    expect(mapping.isLost, true)
  }

  @Test func noThreadLosesWhatItStoredWhenAllMeetTheLossAtOnce() throws {
    let mapping = try GuardedMapping(file, byteCount: 8192)
    for round in 1...2000 {
      try file.setByteCount(0)
      DispatchQueue.concurrentPerform(iterations: 4) { thread in
        mapping.storeReleasing32(UInt32(round), at: 4 * thread)
      }
      for thread in 0..<4 { expect(mapping.loadAcquiring32(at: 4 * thread), UInt32(round)) }
      try file.setByteCount(8192)
      try mapping.renew(file)
    }
  }

  @Test func theLossOfOneMappingIsNotAnothers() throws {
    let first = try GuardedMapping(file, byteCount: 8192)
    let other = try Directory(path: root.path).makeFile("other", byteCount: 4096, mode: 0o600)
    let second = try GuardedMapping(other, byteCount: 4096)
    try truncateByAnother(to: 0)
    expect(first.loadAcquiring32(at: 0), 0)
    expect(first.isLost, true)
    expect(second.isLost, false)
  }

  @Test func guardsAreGivenBack() throws {
    for _ in 1...3000 { _ = try GuardedMapping(file, byteCount: 8192) }
  }

  @Test func anyOtherFaultEndsTheProcessAsEver() async {
    await #expect(processExitsWith: .signal(SIGBUS)) {
      let root = try TemporaryRoot()
      let file = try Directory(path: root.path).makeFile("f", byteCount: 4096, mode: 0o600)
      let guarded = try GuardedMapping(file, byteCount: 4096)
      let bare = unsafe mmap(nil, 4096, PROT_READ, MAP_SHARED, file.number, 0)
      try output(of: "truncate", ["--size=0", root.file("f")])
      guard guarded.loadAcquiring32(at: 0) == 0, guarded.isLost else { exit(3) }
      exit(unsafe bare!.load(as: Int32.self))
    }
  }

  @Test func anEarlierHandlerStillGetsItsFaults() async {
    await #expect(processExitsWith: .exitCode(42)) {
      signal(SIGBUS) { _ in _exit(42) }
      let root = try TemporaryRoot()
      let file = try Directory(path: root.path).makeFile("f", byteCount: 4096, mode: 0o600)
      let guarded = try GuardedMapping(file, byteCount: 4096)
      try output(of: "truncate", ["--size=0", root.file("f")])
      guard guarded.loadAcquiring32(at: 0) == 0, guarded.isLost else { exit(3) }
      raise(SIGBUS)
    }
  }

  /// `#expect` takes its operands apart, which a mapping does not allow.
  private func expect<Value: Equatable>(
    _ value: Value, _ expected: Value, at location: SourceLocation = #_sourceLocation
  ) {
    #expect(value == expected, sourceLocation: location)
  }
}
