import Glibc

/// Takes the one socket that a service manager passes to this process (sd_listen_fds(3)).
///
/// - Returns: its number, which the caller closes; nil if the manager passes none, or several.
package func takePassedSocket() -> Int32? {
  guard environmentValue("LISTEN_PID") == "\(getpid())", environmentValue("LISTEN_FDS") == "1"
  else { return nil }
  // The first of the protocol. Nothing else opens it: the manager has.
  let number: Int32 = 3
  // Programs that this process starts do not inherit it; and accepting a connection that its client
  // has ended again does not block.
  let flags = fcntl(number, F_GETFL)
  guard flags >= 0, fcntl(number, F_SETFD, FD_CLOEXEC) == 0,
    fcntl(number, F_SETFL, flags | O_NONBLOCK) == 0
  else { return nil }
  return number
}
