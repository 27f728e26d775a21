import FrameBus

/// Rotates or mirrors one plane of a picture upright, sample by sample.
struct PlaneTurn: Hashable, Sendable {
  let orientation: Orientation
  /// Columns and rows of the plane in memory.
  let columns: Int
  let rows: Int
  let sampleBytes: Int

  func upright(_ plane: [UInt8]) -> [UInt8] {
    let (width, height) = orientation.swapsSides ? (rows, columns) : (columns, rows)
    var result: [UInt8] = []
    result.reserveCapacity(plane.count)
    for y in 0..<height {
      for x in 0..<width {
        let start = index(x: x, y: y) * sampleBytes
        for byte in 0..<sampleBytes { result.append(plane[start + byte]) }
      }
    }
    return result
  }

  /// The index in memory of the sample at a position of the upright picture.
  private func index(x: Int, y: Int) -> Int {
    let (lastRow, lastColumn) = (rows - 1, columns - 1)
    let (row, column) =
      switch orientation {
      case .up: (y, x)
      case .upMirrored: (y, lastColumn - x)
      case .down: (lastRow - y, lastColumn - x)
      case .downMirrored: (lastRow - y, x)
      case .leftMirrored: (x, y)
      case .right: (lastRow - x, y)
      case .rightMirrored: (lastRow - x, lastColumn - y)
      case .left: (x, lastColumn - y)
      }
    return row * columns + column
  }
}
