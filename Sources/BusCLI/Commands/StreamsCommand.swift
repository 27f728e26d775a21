import ArgumentParser
import CommandLineSupport
import FrameBus

/// `framebus streams`: what flows in the group, asked of each publisher.
struct StreamsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "streams", abstract: "List the streams of the group and who reads them.")

  @OptionGroup var global: GlobalOptions

  func run() throws {
    let streams = try listStreams(in: try global.openGroup(creatingLocal: true))
    if global.json {
      try global.terminal.printJSON(streams.map(StreamRecord.init))
    } else if streams.isEmpty {
      global.terminal.say("no stream; start one, as with `framebus capture screen`")
    } else {
      for stream in streams { show(stream) }
    }
  }

  private func show(_ stream: StreamStatus) {
    let terminal = global.terminal
    let format = stream.format.map { format in
      let size = format.kind == .video ? " \(format.width)×\(format.height)" : ""
      return "\(format.fourcc)\(size)"
    }
    terminal.print(
      "\(stream.name)  \(stream.state.rawValue)  \(format ?? "no format yet")  "
        + "\(stream.cursor) frames  \(stream.slots) slots of \(stream.slotBytes / 1024) KiB  "
        + "pid \(stream.publisherPID)"
        + (stream.owed > 0 ? "  \(stream.owed) subscribers owed memory" : ""))
    for subscriber in stream.subscribers {
      terminal.print(
        "  subscriber \(subscriber.id)  pid \(subscriber.pid)  received \(subscriber.received)  "
          + "dropped \(subscriber.dropped)  lag \(subscriber.lag)  holds \(subscriber.held)"
          + (subscriber.isLossless ? "  lossless" : ""))
    }
  }
}

/// A stream as scripts read it: the names are a contract.
private struct StreamRecord: Encodable {
  struct Publisher: Encodable { let pid: Int32 }

  struct Format: Encodable {
    let kind: String
    let fourcc: String
    let width: Int
    let height: Int
  }

  struct Subscriber: Encodable {
    let id: Int
    let pid: Int32
    let position: UInt64
    let lag: UInt64
    let held: Int
    let received: UInt64
    let dropped: UInt64
  }

  let name: String
  let state: String
  let generation: UInt64
  let publisher: Publisher
  let cursor: UInt64
  let format: Format?
  let slots: Int
  let slotBytes: Int
  let published: UInt64
  let subscribers: [Subscriber]

  init(_ stream: StreamStatus) {
    name = stream.name.text
    state = stream.state.rawValue
    generation = stream.generation
    publisher = Publisher(pid: stream.publisherPID)
    cursor = stream.cursor
    format = stream.format.map {
      Format(
        kind: "\($0.kind)", fourcc: "\($0.fourcc)", width: $0.width, height: $0.height)
    }
    slots = stream.slots
    slotBytes = stream.slotBytes
    published = stream.cursor
    subscribers = stream.subscribers.map {
      Subscriber(
        id: $0.id, pid: $0.pid, position: $0.position, lag: $0.lag, held: $0.held,
        received: $0.received, dropped: $0.dropped)
    }
  }
}
