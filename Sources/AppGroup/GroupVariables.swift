/// The environment variables that select a program's group.
package enum GroupVariables {
  /// The group's ID; the default is the local group.
  package static let group = "FRAMEBUS_GROUP"
  /// A directory that holds `state/ID` and `run/ID` instead of the default directories.
  package static let home = "FRAMEBUS_HOME"
  /// Where a confined process finds its user's run directories, if there is no `home`.
  package static let run = "FRAMEBUS_RUN"
  /// Set for a confined process.
  package static let confined = "FRAMEBUS_CONFINED"
}
