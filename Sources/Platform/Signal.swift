import Glibc

/// Signals by their meaning, for modules that do not import Glibc.
package enum Signal {
  package static let interrupt = SIGINT
  package static let terminate = SIGTERM
  package static let kill = SIGKILL
}
