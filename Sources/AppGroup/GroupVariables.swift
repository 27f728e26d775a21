/// The variables of the environment by which a program is told its group.
package enum GroupVariables {
  /// The group's id; without it the local one is meant.
  package static let group = "FRAMEBUS_GROUP"
  /// A directory that holds `state/ID` and `run/ID` instead of the usual places.
  package static let home = "FRAMEBUS_HOME"
}
