import Glibc
import Synchronization

/// Resolves a host name to IPv4 and IPv6 addresses, in the order in which to try them
/// (getaddrinfo(3)). A numeric address is returned unchanged.
///
/// The resolver cannot be interrupted: after the deadline or the signal its thread continues in the
/// background, and its result is discarded.
/// - Returns: an empty array for an unknown name; nil if there was no answer in time.
package func addresses(
  ofHost name: String, until deadline: Deadline, stop: StopSignal
) throws(SystemError) -> [String]? {
  let written = resolve(name, flags: AI_NUMERICHOST)
  if !written.isEmpty { return written }
  let answer = ResolverAnswer()
  let answered = try StopSignal()
  try startThread(named: "resolver") {
    answer.addresses.withLock { $0 = resolve(name, flags: 0) }
    answered.raise()
  }
  let ready = try waitUntilReadable(
    [answered.descriptorNumber, stop.descriptorNumber], until: deadline)
  return ready[0] ? answer.addresses.withLock { $0 } : nil
}

private final class ResolverAnswer: Sendable {
  let addresses = Mutex<[String]>([])
}

private func resolve(_ name: String, flags: Int32) -> [String] {
  var hints = unsafe addrinfo()
  unsafe hints.ai_flags = flags
  // Otherwise each address is listed once for each socket type.
  unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
  var first: UnsafeMutablePointer<addrinfo>?
  // SAFETY: the list that is returned is freed once, after it has been read.
  guard unsafe getaddrinfo(name, nil, &hints, &first) == 0 else { return [] }
  defer { unsafe freeaddrinfo(first) }
  var found: [String] = []
  var next = unsafe first
  while let entry = unsafe next?.pointee {
    if let text = unsafe numericText(of: entry), !found.contains(text) { found.append(text) }
    unsafe next = entry.ai_next
  }
  return found
}

/// SAFETY: the entry is in a list from getaddrinfo(3) that has not been freed.
@unsafe private func numericText(of entry: addrinfo) -> String? {
  unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(NI_MAXHOST)) { text in
    let code = unsafe getnameinfo(
      entry.ai_addr, entry.ai_addrlen, text.baseAddress, socklen_t(text.count), nil, 0,
      NI_NUMERICHOST)
    return code == 0 ? unsafe String(cString: text.baseAddress!) : nil
  }
}

/// Checks that this machine has a route to a numeric address: connect(2) of a datagram socket looks
/// for one, and sends nothing.
package func checkRoute(to address: String, port: UInt16) throws(SystemError) {
  var hints = unsafe addrinfo()
  unsafe hints.ai_flags = AI_NUMERICHOST
  unsafe hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
  var first: UnsafeMutablePointer<addrinfo>?
  // SAFETY: the list is freed once, after the call that reads it.
  guard unsafe getaddrinfo(address, "\(port)", &hints, &first) == 0, let entry = unsafe first else {
    throw SystemError(code: EINVAL, operation: "getaddrinfo", path: address)
  }
  defer { unsafe freeaddrinfo(entry) }
  let type = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue)
  let descriptor = Descriptor(
    owning: try retryingInterrupts("socket") { unsafe socket(entry.pointee.ai_family, type, 0) })
  let number = descriptor.number
  _ = try retryingInterrupts("connect", path: address) {
    unsafe connect(number, entry.pointee.ai_addr, entry.pointee.ai_addrlen)
  }
}
