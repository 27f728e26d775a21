import AppGroup
import CommandLineSupport
import Platform

/// One turn of a subject in one scenario: starts its processes, begins the work, and stops them in
/// all cases.
struct RingTurn {
  let subject: RingSubject
  let scenario: RingScenario
  let duration: Duration
  let stop: StopSignal

  func measure() throws -> RingFinding {
    let folder = try TemporaryFolder(prefix: "framebus-bench-ring-")
    defer { try? folder.remove() }
    return try measure(in: folder.path)
  }

  /// - Parameter wrapper: returns the command that runs a process, by the process's number.
  func measure(in folder: String, by wrapper: (Int) -> [String] = { _ in [] }) throws -> RingFinding
  {
    _ = try AppGroup.create(.local, root: folder)
    var processes: [RingProcess] = []
    defer { for process in processes.reversed() { process.end() } }
    for number in 0...scenario.subscribers {
      let role = number == 0 ? "publish" : "subscribe"
      let command = [subject.path, role, folder] + scenario.arguments(duration: duration)
      processes.append(
        try RingProcess("\(subject.name) \(role)", command: wrapper(number) + command, stop: stop))
    }
    try processes[0].go()
    // Subscribers end at the publisher's last frame; idle ones do not receive it.
    let isIdle = scenario.traits.contains(.idles)
    var order = Array(processes.indices)
    if !isIdle { order.append(order.removeFirst()) }
    var figures: [Int: RingFigures] = [:]
    for (turn, number) in order.enumerated() {
      if turn > 0 { processes[number].release() }
      figures[number] = try processes[number].finish(within: duration, stop: stop)
    }
    return RingFinding(
      publisher: figures[0] ?? RingFigures(),
      subscribers: processes.indices.dropFirst().map { figures[$0] ?? RingFigures() },
      measure: scenario.measure)
  }
}
