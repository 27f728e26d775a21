import FrameBus

/// Why an upload failed.
public enum UploadError: Error {
  case destination(DestinationError)
  case cannotSubscribe(StreamName, SubscriberError)
  case cannotReceive(StreamName, ReceiveError)
  case noFrame(StreamName, seconds: Int64)
}

extension UploadError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .destination(let error): error.description
    case .cannotSubscribe(let stream, let error): "cannot subscribe to \(stream): \(error)"
    case .cannotReceive(let stream, let error): "cannot receive from \(stream): \(error)"
    case .noFrame(let stream, let seconds):
      "\(stream) published no frame within \(seconds) s; see `framebus streams`"
    }
  }
}
