import Glibc

/// Processor time that a process and all its threads have used since its start, user and system
/// together, in nanoseconds (`clock_getcpuclockid(3)`): the sum that /proc/PID/stat gives in ticks
/// of 10 ms. The process must run, or have ended without being waited for.
package func processorTimeNs(of processID: Int32) throws(SystemError) -> UInt64 {
  var clock: clockid_t = 0
  let code = unsafe clock_getcpuclockid(processID, &clock)
  guard code == 0 else { throw SystemError(code: code, operation: "clock_getcpuclockid") }
  var time = timespec()
  guard unsafe clock_gettime(clock, &time) == 0 else { throw .last("clock_gettime") }
  return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
}

/// Processor time that the calling thread has used (`clock_gettime(2)`, CLOCK_THREAD_CPUTIME_ID).
package func threadProcessorTimeNs() -> UInt64 {
  var time = timespec()
  _ = unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
}

/// The machine's physical memory (`sysconf(3)`).
package func physicalMemoryBytes() -> UInt64 {
  UInt64(max(0, sysconf(Int32(_SC_PHYS_PAGES)))) * UInt64(max(0, sysconf(Int32(_SC_PAGESIZE))))
}
