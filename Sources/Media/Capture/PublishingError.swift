import FrameBus
import SharedDefaults

/// Why a source could not publish.
public enum PublishingError: Error, CustomStringConvertible {
  case publisher(PublisherError)
  case loan(LoanError)
  case format(FrameFormatError)
  /// The group's sound switch cannot be read.
  case settings(DefaultsError)

  public var description: String {
    switch self {
    case .publisher(let error): "\(error)"
    case .loan(let error): "\(error)"
    case .format(let error): "\(error)"
    case .settings(let error): "\(error)"
    }
  }
}
