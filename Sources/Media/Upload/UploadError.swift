import FrameBus
import Platform

/// Why an upload failed.
public enum UploadError: Error {
  case destination(DestinationError)
  case cannotSubscribe(SubscriberError)
  case cannotReceive(ReceiveError)
  case noFrame(StreamName, seconds: Int64, PauseReason?)
  case oldPicture(OldPicture)
  case cannotWait(SystemError)
  case twoPictures(StreamName, StreamName)
}

extension UploadError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .destination(let error): error.description
    case .cannotSubscribe(let error): error.description
    case .cannotReceive(let error): error.description
    case .noFrame(let stream, let seconds, let pause):
      "stream “\(stream)” published no frame within \(seconds) s"
        + (pause.map { ": it is paused, because \($0.explanation)" } ?? "")
        + "; see `framebus streams`"
    case .oldPicture(let picture): "\(picture); add --allow-old to write it nevertheless"
    case .cannotWait(let error):
      "cannot wait for several streams: \(error); see `ulimit -n`"
    case .twoPictures(let first, let second):
      "“\(first)” and “\(second)” both carry pictures, and an upload takes one stream of pictures; "
        + "name it first and then the streams of sound"
    }
  }
}
