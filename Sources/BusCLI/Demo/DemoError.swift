import Platform

/// Why a demo could not run to its end, with what to do about it.
enum DemoError: Error, CustomStringConvertible {
  case programMissing(String, package: String)
  case screenDidNotStart(lastWords: String)
  case programEnded(String, ChildStatus, lastWords: String)
  case nothingRecorded(seconds: Int, lastWords: String)
  case noSummary(String, text: String)

  var description: String {
    switch self {
    case .programMissing(let name, let package):
      "there is no program \(name); install it: apt-get install \(package)"
    case .screenDidNotStart(let words):
      "the virtual screen (Xvfb) did not start\(Self.because(words)); try `Xvfb :99`"
    case .programEnded(let name, let status, let words):
      "\(name) \(status)\(Self.because(words))"
    case .nothingRecorded(let seconds, let words):
      "no recording after \(seconds) s\(Self.because(words)); run again with --virtual, "
        + "or see `framebus doctor`"
    case .noSummary(let name, let text):
      "\(name) ended without its figures: “\(text)”"
    }
  }

  private static func because(_ words: String) -> String {
    words.isEmpty ? "" : ": " + words.trimmingPrefix("error: ")
  }
}
