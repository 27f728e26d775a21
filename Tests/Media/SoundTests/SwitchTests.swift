import AppGroup
import FrameBus
import Platform
import SharedDefaults
import TestSupport
import Testing

@testable import Sound

@Suite struct SwitchTests {
  /// Every sample at full scale, so that the ramp is visible.
  private let loud = SoundChunk([Float](repeating: 1, count: SoundChunk.sampleCount))

  private func largestStep(_ samples: [Float]) -> Float {
    zip(samples, samples.dropFirst(2)).map { abs($0 - $1) }.max() ?? 0
  }

  @Test func soundFadesOutWithinOneChunk() throws {
    var fader = SoundFader()
    let untouched = fader.fade(loud, isOn: true)
    #expect(untouched == loud)
    let faded = fader.fade(loud, isOn: false)
    let last = try #require(faded)
    #expect(last.samples[0] > 0.99 && last.samples[480...].allSatisfy { $0 == 0 })
    #expect(largestStep(loud.samples + last.samples) < 0.01)
    let after = fader.fade(loud, isOn: false)
    #expect(fader.isSilent && after == nil)
  }

  @Test func soundFadesInWithItsFirstChunk() throws {
    var fader = SoundFader()
    let before = fader.fade(loud, isOn: false)
    #expect(before == nil)
    let faded = fader.fade(loud, isOn: true)
    let first = try #require(faded)
    #expect(first.samples[0] < 0.01 && first.samples[480...].allSatisfy { $0 == 1 })
    #expect(largestStep([0, 0] + first.samples) < 0.01)
    let after = fader.fade(loud, isOn: true)
    #expect(after == loud)
  }

  @Test func unsetSoundIsOnAndABroadcastStartsWithoutTheMicrophone() throws {
    let root = try TemporaryRoot()
    let group = try AppGroup.create(.local, root: root.path)
    let suite = try SharedDefaults(suiteName: SoundSwitch.suiteName, in: group)
    #expect(SoundSwitch(in: suite) == SoundSwitch(app: true, mic: true))
    try SoundSwitch().set(in: suite)
    #expect(SoundSwitch(in: suite) == SoundSwitch(app: true, mic: false))
    #expect(suite.bool(forKey: "sound.app") && !suite.bool(forKey: "sound.mic"))
  }

  @Test func waiterIsWokenWhenSoundIsSwitchedOn() throws {
    let root = try TemporaryRoot()
    let group = try AppGroup.create(.local, root: root.path)
    let suite = try SharedDefaults(suiteName: SoundSwitch.suiteName, in: group)
    try SoundSwitch(app: false, mic: false).set(in: suite)
    let sound = try SwitchedSound(.micAudio, in: group)
    #expect(!sound.isOn)
    let stop = try StopSignal()
    try startThread(named: "switch") { try? SoundSwitch(app: false, mic: true).set(in: suite) }
    try withWatchdog { #expect(sound.waitUntilOn(stop: stop, until: .never)) }
    try SoundSwitch(app: true, mic: false).set(in: suite)
    #expect(!sound.isOn)
    stop.raise()
    #expect(!sound.waitUntilOn(stop: stop, until: .never))
  }
}
