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
    var processes: [RingProcess] = []
    defer { for process in processes.reversed() { process.end() } }
    // Each stream has a group of its own, and its publisher is first of its processes.
    for stream in 0..<scenario.streams {
      let place = scenario.streams == 1 ? folder : "\(folder)/\(stream)"
      if scenario.streams > 1 {
        _ = try Directory(path: folder).makeDirectory("\(stream)", mode: 0o700)
      }
      _ = try AppGroup.create(.local, root: place)
      for number in 0...scenario.subscribers {
        let role = number == 0 ? "publish" : "subscribe"
        let command =
          [subject.path, role, place] + scenario.arguments(duration: duration) + subject.arguments
        processes.append(
          try RingProcess("\(subject.name) \(role)", command: wrapper(number) + command, stop: stop)
        )
      }
    }
    let publishers = Array(stride(from: 0, to: processes.count, by: scenario.subscribers + 1))
    let subscribers = processes.indices.filter { !publishers.contains($0) }
    for number in publishers { try processes[number].go() }
    // Subscribers end at the publisher's last frame; idle ones do not receive it.
    let isIdle = scenario.traits.contains(.idles)
    var figures: [Int: RingFigures] = [:]
    for (turn, number) in (isIdle ? publishers + subscribers : subscribers + publishers)
      .enumerated()
    {
      if turn > 0 { processes[number].release() }
      figures[number] = try processes[number].finish(within: duration, stop: stop)
    }
    return RingFinding(
      publishers: publishers.map { figures[$0] ?? RingFigures() },
      subscribers: subscribers.map { figures[$0] ?? RingFigures() }, measure: scenario.measure)
  }
}
