import AppGroup
import Broadcast
import CommandLineSupport
import Platform

/// Why a demo could not complete.
enum DemoError: Error, CustomStringConvertible {
  case neverLive(Duration)
  case notFinished(BroadcastEnding)
  case noFigure(String, Role)
  case noPicture(seconds: Int, lastWords: String)

  var description: String {
    switch self {
    case .neverLive(let timeout):
      "no sample arrived within \(timeout); try --virtual, or run `framebus doctor`"
    case .notFinished(.failed(let failure)): "the broadcast failed: \(failure.description.plain)"
    case .notFinished(let ending):
      "the broadcast \(ending); run the demo again with --keep and read its log"
    case .noFigure(let key, let role):
      "the \(role) logged no \(key) when it ended; run the demo again with --keep and read its log"
    case .noPicture(let seconds, let words):
      "no picture of the recording after \(seconds) s\(StartedProgramError.because(words)); "
        + "run the demo again, or run `framebus doctor`"
    }
  }
}
