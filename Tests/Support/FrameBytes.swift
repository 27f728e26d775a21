// The loops over pixels and texts that tests run most often. Tests themselves are not optimised;
// this module is.

/// The number of pixels of a colour, 0xRRGGBB.
/// - Parameter bytes: four for each pixel: blue, green, red, and one without a meaning.
package func countPixels(of color: UInt32, in bytes: [UInt8]) -> Int {
  var count = 0
  for offset in stride(from: 0, to: bytes.count - 3, by: 4) where pixel(bytes, offset) == color {
    count += 1
  }
  return count
}

/// The first colour that is not among some.
package func firstPixel(in bytes: [UInt8], otherThan colors: Set<UInt32>) -> UInt32? {
  var last: UInt32?
  for offset in stride(from: 0, to: bytes.count - 3, by: 4) {
    let color = pixel(bytes, offset)
    if color == last { continue }
    if !colors.contains(color) { return color }
    last = color
  }
  return nil
}

private func pixel(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
  UInt32(bytes[offset]) | UInt32(bytes[offset + 1]) << 8 | UInt32(bytes[offset + 2]) << 16
}

/// Whether all words of eight bytes are equal.
package func isOneWordRepeated(_ bytes: ArraySlice<UInt8>) -> Bool {
  if bytes.count % 8 != 0 { return false }
  for index in bytes.indices.dropFirst(8) where bytes[index] != bytes[index - 8] { return false }
  return true
}

/// The largest difference between two bytes at one position; 255 for other numbers of bytes.
package func largestDifference(between one: [UInt8], and other: [UInt8]) -> Int {
  if one.count != other.count { return 255 }
  var largest = 0
  for index in one.indices { largest = max(largest, abs(Int(one[index]) - Int(other[index]))) }
  return largest
}

extension String {
  /// The complete lines that have a prefix: text after the last newline is an incomplete line.
  package func completeLines(_ prefix: String = "") -> [Substring] {
    utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
      .filter { $0.starts(with: prefix.utf8) }.map { Substring($0) }
  }
}
