import Testing

@testable import Upload

@Suite struct TimelineTests {
  @Test func timeStampOfAnotherClockIsPlacedByItsTimeOfCapture() {
    var timeline = Timeline()
    let second: UInt64 = 1_000_000_000
    #expect(timeline.place(ptsNs: 5, capturedAtNs: second, generation: 1) == 0)
    #expect(timeline.place(ptsNs: .max, capturedAtNs: 2 * second, generation: 1) == second)
    // From there on its own differences apply again.
    #expect(
      timeline.place(ptsNs: .max - 1, capturedAtNs: 2 * second, generation: 1)
        == second + 1_000_000)
    #expect(
      timeline.place(ptsNs: 0, capturedAtNs: 3 * second, generation: 1) == 2 * second + 1_000_000)
  }

  @Test func pausesOfFilesAreLimited() {
    var timeline = Timeline()
    #expect(timeline.place(ptsNs: 0, capturedAtNs: 0, generation: 1) == 0)
    let hour: Int64 = 3_600_000_000_000
    #expect(timeline.place(ptsNs: hour, capturedAtNs: 0, generation: 1) == UInt64(hour))
    #expect(
      timeline.place(ptsNs: .max, capturedAtNs: 0, generation: 1) == UInt64(hour) + 1_000_000)
  }

  private let second: Int64 = 1_000_000_000

  @Test func firstFrameIsAtZeroAndDifferencesAreExact() {
    var timeline = Timeline()
    let stamps: [Int64] = [5_000_000_007, 5_016_666_673, 5_033_333_340, 5_133_333_340]
    let placed = stamps.map {
      timeline.place(ptsNs: $0, capturedAtNs: UInt64($0), generation: 1)
    }
    #expect(placed == stamps.map { UInt64($0 - stamps[0]) })
  }

  @Test func timeStampsNeverGoBack() {
    var timeline = Timeline()
    _ = timeline.place(ptsNs: 100, capturedAtNs: 100, generation: 1)
    #expect(timeline.place(ptsNs: 50, capturedAtNs: 50, generation: 1) == 1_000_000)
    // Once the stream's own time has passed that point, it applies again.
    #expect(timeline.place(ptsNs: 100 + second, capturedAtNs: 0, generation: 1) == UInt64(second))
  }

  @Test func restartedPublisherIsPlacedByTimeOfCapture() {
    var timeline = Timeline()
    _ = timeline.place(ptsNs: 7, capturedAtNs: 1_000, generation: 1)
    // Its own time stamps restart; 3 s have passed.
    let capturedAtNs = UInt64(1_000 + 3 * second)
    #expect(
      timeline.place(ptsNs: 0, capturedAtNs: capturedAtNs, generation: 2) == UInt64(3 * second))
    #expect(
      timeline.place(ptsNs: second, capturedAtNs: 0, generation: 2) == UInt64(4 * second))
  }

  @Test func repeatedFrameMovesOnlyTheEnd() {
    var timeline = Timeline()
    _ = timeline.place(ptsNs: 0, capturedAtNs: 0, generation: 1)
    #expect(timeline.placeRepeated(afterNs: second / 2) == UInt64(second / 2))
    #expect(timeline.place(ptsNs: second, capturedAtNs: 0, generation: 1) == UInt64(second))
    // A frame that was overtaken by a repeated one follows it directly.
    #expect(timeline.placeRepeated(afterNs: second) == UInt64(2 * second))
    let late = timeline.place(ptsNs: second + second / 2, capturedAtNs: 0, generation: 1)
    #expect(late == UInt64(2 * second + Timeline.minimumStepNs))
  }
}
