import FrameBus
import Testing

@Suite struct PictureLimitsTests {
  /// Table A-1 of H.264: level 6.2 has 139,264 macroblocks.
  @Test func thePicturesOfTheHighestLevelAreTheLargest() {
    for (width, height) in [(8192, 4352), (4352, 8192), (16_384, 2176), (65_535, 544), (1, 65_535)]
    {
      #expect(PictureLimits.any.contain(width: width, height: height), "\(width)×\(height)")
    }
    for (width, height) in [
      (8192, 4353), (8193, 4352), (16_384, 16_384), (65_535, 65_535), (65_536, 1), (0, 1), (1, 0),
      (65_535, 545),
    ] {
      #expect(!PictureLimits.any.contain(width: width, height: height), "\(width)×\(height)")
    }
    let encoder = PictureLimits(sides: 16...16_384)
    #expect(
      !encoder.contain(width: 15, height: 640) && !encoder.contain(width: 640, height: 16_385))
    #expect(encoder.contain(width: 16, height: 16_384))
  }
}
