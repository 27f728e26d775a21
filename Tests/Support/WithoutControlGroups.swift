extension RunningProgram {
  /// Starts a program that sees no control groups, as on a machine without them. Only root can
  /// hide a file system.
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
