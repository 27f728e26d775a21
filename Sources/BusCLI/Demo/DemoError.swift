import AppGroup
import Broadcast
import CommandLineSupport
import Platform

/// Why a demo could not run to its end, with what to do about it.
enum DemoError: Error, CustomStringConvertible {
  case neverLive(Duration)
  case notFinished(BroadcastEnding)
  case noFigure(String, Role)
  case noPicture(seconds: Int, lastWords: String)

  var description: String {
    switch self {
    case .neverLive(let patience):
      "no sample came within \(patience); run again with --virtual, or see `framebus doctor`"
    case .notFinished(.failed(let failure)): "the broadcast failed: \(failure.description.plain)"
    case .notFinished(let ending):
      "the broadcast \(ending); run again with --keep, and read its log"
    case .noFigure(let key, let role):
      "the \(role) did not say \(key) when it ended; run again with --keep, and read its log"
    case .noPicture(let seconds, let words):
      "no picture of the recording after \(seconds) s\(StartedProgramError.because(words)); "
        + "run again, or see `framebus doctor`"
    }
  }
}
