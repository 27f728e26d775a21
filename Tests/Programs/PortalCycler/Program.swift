import AppGroup
import Capture
import CapturePipeWire
import Foundation
import FrameBus
import Platform
import Synchronization
import WorkerSupport

/// Asks a desktop's portal, takes a picture and ends the capture, N times: `PortalCycler ROOT GROUP
/// N`. It prints what the process had after the first tenth, and at the end: descriptors, mappings,
/// threads, kilobytes of its own.
@main struct Program {
  static func main() { runWorker(run) }

  private static func run() throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 4, let count = Int(arguments[3]) else {
      fatalError("usage: PortalCycler ROOT GROUP N")
    }
    let group = try AppGroup.open(GroupID(arguments[2]), root: arguments[1])
    let audience = try Audience(StreamName("screen"), in: group)
    for index in 1...count {
      let session = CaptureSession(
        group: group, stream: audience.stream, stop: try StopSignal(), frameLimit: 1)
      var source = PortalSource(PortalOptions(.monitor))
      try source.run(in: session)
      guard session.publishedCount == 1 else { fatalError("no picture in cycle \(index)") }
      if index == max(count / 10, 1) || index == count { say(try resources()) }
    }
    audience.end()
  }

  private static func resources() throws -> String {
    func field(_ name: String) -> String {
      kernelText("/proc/self/status").split(separator: "\n")
        .first { $0.hasPrefix(name) }?.filter(\.isNumber) ?? ""
    }
    let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    let mappings = kernelText("/proc/self/maps").split(separator: "\n").count
    return "\(descriptors) \(mappings) \(field("Threads:")) \(field("RssAnon:"))"
  }
}

/// Subscribes to each capture in its turn, on a thread of its own.
private final class Audience: Sendable {
  let stream: StreamName
  private let group: AppGroup
  private let isOver = Atomic<Bool>(false)

  init(_ stream: StreamName, in group: AppGroup) throws {
    self.stream = stream
    self.group = group
    _ = try startThread(named: "audience") { [self] in
      while !isOver.load(ordering: .acquiring) { try? watch() }
    }
  }

  private func watch() throws {
    var subscriber = try Subscriber(
      stream, in: group, waitingForPublisherUntil: .after(.milliseconds(500)))
    while !isOver.load(ordering: .acquiring) {
      if case .finished = try subscriber.next(until: .after(.milliseconds(500))) { return }
    }
  }

  func end() { isOver.store(true, ordering: .releasing) }
}
