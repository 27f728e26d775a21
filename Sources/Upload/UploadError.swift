import FrameBus

/// Why an upload failed.
public enum UploadError: Error {
  case destination(DestinationError)
  case cannotSubscribe(SubscriberError)
  case cannotReceive(ReceiveError)
  case noFrame(StreamName, seconds: Int64)
}

extension UploadError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .destination(let error): error.description
    case .cannotSubscribe(let error): error.description
    case .cannotReceive(let error): error.description
    case .noFrame(let stream, let seconds):
      "stream “\(stream)” published no frame within \(seconds) s; see `framebus streams`"
    }
  }
}
