import Glibc

/// Makes this process the leader of a session without a terminal (`setsid(2)`), so that neither a
/// closed terminal nor its Ctrl-C reaches it. It must not lead a process group.
package func beginOwnSession() throws(SystemError) {
  if setsid() < 0 { throw .last("setsid") }
}

/// Connects standard input, output and error to /dev/null.
package func silenceStandardStreams() throws(SystemError) {
  let null = Descriptor(
    owning: try retryingInterrupts("open", path: "/dev/null") {
      // SAFETY: the path is copied for the call.
      unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
    })
  for number in Int32(0)...2 {
    _ = try retryingInterrupts("dup2") { dup2(null.number, number) }
  }
}
