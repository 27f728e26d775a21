import Platform

/// The report that framebus-confine writes until it exits or executes the role's program.
struct Report {
  let measures: [Measure]
  let hasStarted: Bool
  /// Why the program was not started; nil if it was.
  let refusal: String?

  private static let maximumBytes = 65536

  init(reading end: consuming Descriptor) throws(SystemError) {
    var bytes: [UInt8] = []
    while bytes.count < Self.maximumBytes {
      let more = try readSome(end.number)
      if more.isEmpty { break }
      bytes += more
    }
    self.init(String(decoding: bytes, as: UTF8.self))
  }

  /// The last `start` line counts: it is written before exec, and corrected if that fails.
  init(_ text: String) {
    let lines = text.split(separator: "\n").compactMap { Measure($0) }
    let starts = lines.filter { $0.name == Measure.startName }
    measures = lines.filter { $0.name != Measure.startName }
    hasStarted = starts.last?.isOn == true
    refusal = starts.last { !$0.isOn }?.detail
  }
}
