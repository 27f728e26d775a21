import Testing

@testable import CommandLineSupport

/// Numbers in columns. Some come from other processes' memory and can have any value.
@Suite struct TextTests {
  @Test(
    arguments: [
      (0, 1, "0.0"), (0.04, 1, "0.0"), (0.05, 1, "0.1"), (-1.25, 2, "-1.25"), (59.94, 0, "60"),
      (9e15, 1, "9000000000000000.0"),
    ] as [(Double, Int, String)])
  func numberHasExactlyTheRequestedPlaces(number: Double, places: Int, text: String) {
    #expect(number.text(places: places) == text)
  }

  @Test(
    arguments: [
      (1e18, "1e+18"), (Double(UInt64.max), "1.8446744073709552e+19"), (-1e300, "-1e+300"),
      (Double.greatestFiniteMagnitude, "1.7976931348623157e+308"), (.infinity, "inf"),
      (.nan, "nan"),
    ] as [(Double, String)])
  func numbersWithTooManyDigitsAreWritten(number: Double, text: String) {
    #expect(number.text(places: 1) == text)
  }
}
