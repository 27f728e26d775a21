import CommandLineSupport

/// Why a demo could not run to its end, with what to do about it.
enum DemoError: Error, CustomStringConvertible {
  case nothingRecorded(seconds: Int, lastWords: String)

  var description: String {
    switch self {
    case .nothingRecorded(let seconds, let words):
      "no recording after \(seconds) s\(StartedProgramError.because(words)); "
        + "run again with --virtual, or see `framebus doctor`"
    }
  }
}
