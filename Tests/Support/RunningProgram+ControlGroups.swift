extension RunningProgram {
  /// Starts a program without control groups in its view, as on a machine without them. Needs root,
  /// to hide a file system.
  package convenience init(
    withoutControlGroups program: String, _ arguments: [String],
    environment: [String: String?] = [:]
  ) throws {
    let script = #"mount -t tmpfs none /sys/fs/cgroup && exec "$@""#
    try self.init(
      "unshare",
      ["--mount", "sh", "-c", script, "sh", try pathOfProgram(program)] + arguments,
      environment: environment)
  }
}
