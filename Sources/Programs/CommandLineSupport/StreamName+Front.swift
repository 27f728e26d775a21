import AppGroup
import FrameBus
import FrontApplication

extension StreamName {
  /// The front application of the stream's source, as its capture or a host names it; nil if none
  /// does. Display it, but base no decision on it.
  package func frontApplication(in group: AppGroup) -> String? {
    (try? FrontApplication(of: self, in: group))?.current?.text
  }
}
