import AppGroup
import FrameBus
import Platform
import TestSupport
import Testing

/// The switch of a group's sound, applied by a running capture.
@Suite struct LiveSwitchTests {
  private let root: TemporaryRoot
  private let group: AppGroup

  init() throws {
    root = try TemporaryRoot()
    group = try AppGroup.create(.local, root: root.path)
  }

  private func switchSound(_ arguments: String...) throws {
    let result = try run("framebus", ["broadcast", "sound", "--root", root.path] + arguments)
    #expect(result.status == .exited(0), "\(result.errors)")
  }

  private struct Piece {
    let ptsNs: Int64
    let first: Int16
    let last: Int16
  }

  private func next(_ subscriber: inout Subscriber) throws -> Piece {
    guard case .frame(let lease) = try subscriber.next(until: .after(.seconds(60))) else {
      throw HarnessError("no sound comes")
    }
    // SAFETY: the samples are read while the lease lives, and within its bytes.
    let (first, last) = unsafe lease.withUnsafeBytes { bytes in
      unsafe (
        bytes.loadUnaligned(as: Int16.self),
        bytes.loadUnaligned(fromByteOffset: bytes.count - 4, as: Int16.self)
      )
    }
    return Piece(ptsNs: lease.metadata.ptsNs, first: first, last: last)
  }

  @Test(arguments: ["app", "mic"])
  func switchedOffSoundEndsWithTheNextChunkAndResumesInTheSameStream(kind: String) throws {
    try withWatchdog {
      let capture = try RunningProgram(
        "framebus", ["capture", "tone:440", "--stream", "audio.\(kind)", "--root", root.path])
      var options = SubscriberOptions()
      options.policy = .keepLatest(50)
      var subscriber = try Subscriber(
        StreamName("audio.\(kind)"), in: group, options: options,
        waitingForPublisherUntil: .after(.seconds(60)))
      for _ in 0..<10 { _ = try next(&subscriber) }
      try switchSound("--\(kind)", "off")
      try capture.waitForErrors("its sound is switched off: `framebus broadcast sound")
      // The last chunk fades to 0, which no sample at the end of a chunk of this tone is.
      var last = try next(&subscriber)
      while last.last != 0 { last = try next(&subscriber) }
      // Switching it off again changes nothing, and lasts for chunks.
      try switchSound("--\(kind)", "off")
      let onNs = Int64(monotonicNowNs())
      try switchSound("--\(kind)", "on")
      let first = try next(&subscriber)
      // At least one chunk is missing, and none is sent that ended before the sound was switched
      // on. A tone whose thread gets no processor is up to half a second late.
      #expect(first.ptsNs > last.ptsNs + 10_000_000)
      #expect(first.ptsNs + 10_000_000 + 500_000_000 > onNs)
      // It begins without a step.
      #expect(abs(Int(first.first)) < 10)
      try capture.waitForErrors("its sound is switched on")
      try capture.end(with: 15)
    }
  }

  @Test func stateIsShownAndBothSwitchesAreIndependent() throws {
    try switchSound("--mic", "off")
    let shown = try run("framebus", ["broadcast", "sound", "--root", root.path])
    #expect(shown.output == "app  on\nmic  off\n")
    let json = try run("framebus", ["broadcast", "sound", "--json", "--root", root.path])
    #expect(json.output.contains("\"app\" : true") || json.output.contains("\"app\":true"))
    let wrong = try run("framebus", ["broadcast", "sound", "--mic", "loud", "--root", root.path])
    #expect(wrong.status == .exited(2))
  }
}
