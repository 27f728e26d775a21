import FrameBus
import SharedDefaults

/// Why a source could not publish.
public enum PublishingError: Error, CustomStringConvertible {
  /// The stream cannot be published.
  case publisher(PublisherError)
  /// No slot was loaned.
  case loan(LoanError)
  /// The format is impossible.
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
