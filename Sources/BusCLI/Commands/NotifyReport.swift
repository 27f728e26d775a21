import ArgumentParser
import CommandLineSupport
import NotifyCenter
import Platform

/// `framebus notify list`: one line per name.
struct NotifyList: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List notifications and their counts.")

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let all = try global.openNotifications().list()
    if global.json { return try global.terminal.printJSON(all.map(NotificationReport.init)) }
    if all.isEmpty {
      global.terminal.report("no notification; `framebus notify post NAME` posts one")
    }
    var table = TextTable(["name", "posted", "state", "last by", "observers"])
    for status in all {
      table.add([
        status.name.text.plain, "\(status.generation)", "\(status.state)",
        status.lastPoster.map { "pid \($0.processID)" } ?? "–", "\(status.observers.count)",
      ])
    }
    if !all.isEmpty { for line in table.lines { try global.terminal.print(line) } }
  }
}

/// `framebus notify dump [NAME]`: full details of each name.
struct NotifyDump: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dump", abstract: "Print notifications with their details and observers.")

  @Argument(help: ArgumentHelp("Notification name (default: all).", valueName: "name"))
  var nameText: String?
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let all = try global.openNotifications().list().filter {
      nameText == nil || $0.name.text == nameText
    }
    if let nameText, all.isEmpty { throw NothingKnown(name: nameText) }
    if global.json { return try global.terminal.printJSON(all.map(NotificationReport.init)) }
    for (index, status) in all.enumerated() {
      if index > 0 { try global.terminal.print("") }
      try show(status)
    }
  }

  private func show(_ status: NotificationStatus) throws {
    var rows = [
      ("name", status.name.text.plain), ("generation", "\(status.generation)"),
      ("state", "\(status.state) (0x\(String(status.state, radix: 16)))"),
    ]
    let age = status.lastPostNs.map { Double(monotonicNowNs() &- min($0, monotonicNowNs())) / 1e9 }
    let poster = status.lastPoster.map { " by pid \($0.processID), \(userName($0.userID))" } ?? ""
    rows.append(("last post", age.map { "\($0.text(places: 3)) s ago\(poster)" } ?? "never"))
    for observer in status.observers {
      rows.append(("observer", "pid \(observer.processID), \(userName(observer.userID))"))
    }
    try global.terminal.printRows(rows)
  }
}

private struct NothingKnown: Error, CustomStringConvertible {
  let name: String

  var description: String {
    "nobody has posted, observed or set \(name.plain) yet; `framebus notify list` lists the others"
  }
}

/// The JSON form of a notification's status.
private struct NotificationReport: Encodable {
  struct Process: Encodable {
    let pid: Int32
    let uid: UInt32
  }

  let name: String
  let generation: UInt64
  let state: UInt64
  /// Nanoseconds of `CLOCK_MONOTONIC`.
  let lastPostNs: UInt64?
  let lastPoster: Process?
  let observers: [Process]

  init(_ status: NotificationStatus) {
    name = status.name.text
    generation = status.generation
    state = status.state
    lastPostNs = status.lastPostNs
    lastPoster = status.lastPoster.map { Process(pid: $0.processID, uid: $0.userID) }
    observers = status.observers.map { Process(pid: $0.processID, uid: $0.userID) }
  }
}
