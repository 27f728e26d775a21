import ArgumentParser
import Capture
import CommandLineSupport
import NotifyCenter
import Platform

/// `framebus notify watch NAME [--count N] [--timeout S]`.
struct NotifyWatch: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Print a line for each delivery of a notification.",
    discussion: """
      Posts that arrive faster than they are delivered are coalesced into one delivery, which \
      gives their number; none is lost. A delivery names its poster only if it stands for one post.
      """)

  @OptionGroup var choice: NotificationChoice
  @OptionGroup var limits: WatchLimits
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    // Before any thread starts, because threads inherit the signal mask.
    let signals = try SignalWatcher()
    let deadline = limits.deadline
    let name = try choice.name()
    let center = try global.openNotifications(creatingLocal: true)
    let observation = try center.observeByDescriptor(name)
    let captured =
      name.text == CapturedAnnouncer.name
      ? global.capturedAnnouncer(in: center.group, preferring: .host) : nil
    defer { captured?.end() }
    guard let descriptor = observation.descriptor else { return }
    global.terminal.report("watching \(name.text.plain)")
    let delivered = try limits.shortfall(until: deadline, descriptor, signals) {
      guard let delivery = try observation.take() else { return false }
      try print(delivery)
      return true
    }
    guard let delivered else { return }
    if global.json { throw AlreadyReported() }
    throw TooFew(name: name, delivered: delivered)
  }

  private func print(_ delivery: Delivery) throws {
    let record = DeliveryRecord(delivery)
    if global.json { return try global.terminal.printJSON(record, onOneLine: true) }
    var line =
      "\(record.name.plain)  generation \(record.generation)  coalesced \(record.coalesced)"
    line += "  state \(record.state)"
    if let pid = record.pid, let uid = record.uid {
      line += "  by \(pid == 0 ? "a hidden process" : "pid \(pid)"), \(userName(uid))"
    }
    if delivery.isReset { line += "  (count restarted)" }
    try global.terminal.print(line)
  }
}

/// The JSON form of a delivery.
private struct DeliveryRecord: Encodable {
  let name: String
  let generation: UInt64
  let coalesced: UInt64
  let state: UInt64
  let pid: Int32?
  let uid: UInt32?
  let isReset: Bool

  init(_ delivery: Delivery) {
    name = delivery.name.text
    generation = delivery.generation
    coalesced = delivery.coalesced
    state = delivery.state
    pid = delivery.poster?.pid
    uid = delivery.poster?.uid
    isReset = delivery.isReset
  }

  private enum Key: String, CodingKey { case name, generation, coalesced, state, pid, uid, isReset }

  /// Encodes unknown values as null.
  func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: Key.self)
    try values.encode(name, forKey: .name)
    try values.encode(generation, forKey: .generation)
    try values.encode(coalesced, forKey: .coalesced)
    try values.encode(state, forKey: .state)
    try values.encode(pid, forKey: .pid)
    try values.encode(uid, forKey: .uid)
    try values.encode(isReset, forKey: .isReset)
  }
}

/// The timeout passed before `--count` deliveries arrived.
private struct TooFew: Error, CustomStringConvertible {
  let name: NotificationName
  let delivered: Int

  var description: String {
    "timed out with \(delivered) deliveries of \(name.text.plain); list observers and posts "
      + "with `framebus notify list`, or increase --timeout"
  }
}
