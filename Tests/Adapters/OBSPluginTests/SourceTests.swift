import Foundation
import Platform
import TestSupport
import Testing

/// What OBS draws and plays of a stream: its own pixels, its own mixer.
@Suite(.serialized, .enabled(if: OBSPlugin.canBeBuilt, Comment(rawValue: OBSPlugin.missing)))
struct SourceTests {
  private let scene: OBSScene
  private var obs: OBSProgram { scene.obs }
  init() throws { scene = try OBSScene() }

  @Test func eachFormatIsDrawnInItsColors() throws {
    let formats = [
      "XR24", "AR24", "AB24", "XB24", "RG24", "YUYV", "YVYU", "UYVY", "NV12", "P010", "YU12",
      "YV12", "YU16", "YU24", "NV12 matrix=1", "YU12 full", "YUYV matrix=1 full",
    ]
    // Each picture differs from that of the format before.
    let letters = ["RGBW", "WRGB", "BWRG", "GBWR"]
    let publisher = try scene.publish("XR24 320 240 KWKW")
    try obs.do("source a")
    try obs.do("picture KWKW 320x240")
    for (index, format) in formats.enumerated() {
      let words = format.split(separator: " ", maxSplits: 1)
      let options = words.count > 1 ? words[1] : ""
      let expected = letters[index % letters.count]
      try publisher.write("\(words[0]) 320 240 \(expected) \(options)")
      try obs.do("picture \(expected) 320x240")
    }
    try publisher.write("R8 320 240 WKKW")
    try obs.do("picture WKKW 320x240")
    try obs.finish()
  }

  @Test func sizesOrientationsAndCropsAreFollowedInMidStream() throws {
    let publisher = try scene.publish("NV12 320 240 RGBW")
    try obs.do("source a")
    try obs.do("picture RGBW 320x240")
    try publisher.write("NV12 161 91 WBGR")
    try obs.do("picture WBGR 161x91")
    // As EXIF names them: what its viewer sees of the picture RGBW.
    let seen = ["RGBW", "GRWB", "WBGR", "BWRG", "RBGW", "BRWG", "WGBR", "GWRB"]
    for (index, letters) in seen.enumerated() {
      let size = index < 4 ? "160x120" : "120x160"
      try publisher.write("XR24 160 120 RGBW orientation=\(index + 1)")
      try obs.do("picture \(letters) \(size)")
    }
    for (format, crop) in [
      ("XR24", "100,60,64,48"), ("YU12", "100,60,220,180"),
      ("NV12", "0,0,80,60"), ("XB24", "256,192,64,48"),
    ] {
      let size = crop.split(separator: ",").dropFirst(2).joined(separator: "x")
      try publisher.write("\(format) 320 240 BRGW crop=\(crop)")
      try obs.do("picture BRGW \(size)")
      try publisher.write("\(format) 320 240 KKKK")
      try obs.do("picture KKKK 320x240")
    }
    try obs.finish()
  }

  @Test func picturesReturnWithThePublisher() throws {
    try obs.do("source a")
    try obs.waitForLog("log: stream a: nobody publishes it; waiting for its publisher\n")
    for letters in ["RGBW", "WWBB", "GGRR"] {
      let publisher = try scene.publish("XR24 320 240 \(letters)")
      try obs.do("picture \(letters)")
      _ = try publisher.program.end(with: SIGKILL)
      // A frozen picture would pass for a live one.
      try obs.do("picture KKKK")
    }
    try obs.waitForLog("log: stream a: its publisher is gone; start it again, and the picture")
    for letters in ["WWWW", "BBBB"] {
      let publisher = try scene.publish("NV12 320 240 \(letters)")
      try obs.do("picture \(letters)")
      _ = try publisher.program.end(with: SIGTERM)
      try obs.do("picture KKKK")
    }
    try obs.waitForLog("log: stream a: it has ended; waiting for its next publisher\n")
    try obs.finish()
  }

  @Test func hiddenSourceIsNotASubscriber() throws {
    let driven = try scene.publish("XR24 320 240 RGBW")
    let publisher = driven.program
    try obs.do("source a")
    for _ in 0..<3 {
      try obs.do("picture RGBW")
      try waitUntil("it subscribes") { publisher.output.text.hasSuffix("subscribers 1\n") }
      try obs.do("hide")
      try waitUntil("it leaves") { publisher.output.text.hasSuffix("subscribers 0\n") }
      try obs.do("show")
    }
    try obs.do("picture RGBW")
    try obs.do("remove")
    try waitUntil("it leaves") { publisher.output.text.hasSuffix("subscribers 0\n") }
    try driven.closeInput()
    try obs.finish()
  }

  @Test func playedByTimeStampsTheSamePicturesAppear() throws {
    let publisher = try scene.publish("NV12 320 240 RGBW")
    try obs.do("source a")
    try obs.do("buffer 1")
    for letters in ["RGBW", "WBGR", "RRRR"] {
      try publisher.write("NV12 320 240 \(letters)")
      try obs.do("picture \(letters)")
    }
    try obs.finish()
  }

  @Test func propertiesListTheStreamsOfTheGroup() throws {
    let first = try scene.publish("XR24 64 48 RGBW", as: "canvas")
    let tone = try scene.publishTone(as: "audio.app")
    try obs.do("source canvas")
    try obs.do("picture RGBW")
    let lists = try obs.do("lists")
    #expect(lists.contains("stream: canvas (64×48) = canvas\n"))
    #expect(lists.contains("sound: audio.app (48000 Hz, channels: 1) = audio.app\n"))
    #expect(lists.contains("state: receiving pictures, 64×48\n"))
    _ = try first.program.end(with: SIGTERM)
    _ = try tone.end(with: SIGTERM)
    #expect(try !obs.do("lists").contains(" = "))
    try obs.finish()
  }

  @Test func logAndPropertiesSayTheCauseAndTheRemedy() throws {
    let tone = try scene.publishTone(as: "audio.app")
    let pictures = try scene.publish("BG24 64 48 KKKK")
    try obs.do("source audio.app")
    try obs.waitForLog("stream audio.app: it has no pictures; choose a stream with sound under")
    try obs.do("choose a")
    try obs.waitForLog("stream a: OBS cannot draw its format; publish raw pictures, for example")
    try pictures.write("XR24 64 48 RGBW")
    try obs.do("picture RGBW")
    try obs.do("choose A")
    try obs.waitForLog("is not allowed; use a–z")
    try obs.do("root /nonexistent")
    try obs.waitForLog("create it with `framebus group create")
    #expect(try obs.do("lists").contains("create it with `framebus group create"))
    _ = try tone.end(with: SIGTERM)
    try obs.finish()
  }

  @Test func soundReachesTheMixer() throws {
    try obs.do("source none sounds")
    try obs.do("silence")
    for _ in 0..<2 {
      let tone = try scene.publishTone(as: "sounds")
      try obs.do("tone")
      _ = try tone.end(with: SIGKILL)
      try obs.do("silence")
    }
    let pictures = try scene.publish("XR24 64 48 RGBW", as: "sounds")
    try obs.waitForLog("stream sounds: it has no sound; choose a stream with pictures under")
    _ = try pictures.program.end(with: SIGTERM)
    try obs.finish()
  }
}
