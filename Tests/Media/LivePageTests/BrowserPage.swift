#if Media
  import Foundation
  import Platform
  import TestSupport

  extension TemporaryRoot {
    /// `framebus`, in the local group of this root.
    func framebus(_ arguments: String...) throws -> RunningProgram {
      try RunningProgram(
        "framebus", arguments, environment: ["FRAMEBUS_HOME": path, "FRAMEBUS_GROUP": nil])
    }

    func capture(_ size: String = "320x240") throws -> RunningProgram {
      try framebus("capture", "test", "--size", size, "--fps", "30")
    }
  }

  /// `framebus view`, and its page in a browser.
  final class ViewProgram {
    let program: RunningProgram
    let url: String
    private let network: OwnNetwork?

    init(
      _ root: TemporaryRoot, _ arguments: [String] = [], in network: OwnNetwork? = nil
    ) throws {
      self.network = network
      program = try start(
        "framebus", ["view"] + arguments + ["--json"], in: network,
        environment: ["FRAMEBUS_HOME": root.path, "FRAMEBUS_GROUP": nil])
      try program.waitForOutput("\n")
      struct Announcement: Decodable { let url: String }
      let line = program.output.text.prefix { $0 != "\n" }
      url = try JSONDecoder().decode(Announcement.self, from: Data(line.utf8)).url
    }

    /// The status and the answer of a request.
    func ask(_ path: String, _ arguments: String...) throws -> (status: String, answer: String) {
      let result = try start(
        "curl", ["-s", "-w", "\n%{http_code}"] + arguments + [url + path], in: network
      ).finish()
      let lines = result.output.split(separator: "\n", omittingEmptySubsequences: false)
      return (String(lines.last ?? ""), lines.dropLast().joined(separator: "\n"))
    }

    /// Posts an offer.
    /// - Returns: the path of the new viewer.
    func admit(_ offer: String, of stream: String? = nil) throws -> String {
      let answer = try answer(to: offer, of: stream)
      guard let place = answer.firstMatch(of: /(?i)location: ([\w.]+\/\w+)/) else {
        throw HarnessError("the answer names no viewer: \(answer)")
      }
      return (stream == nil ? "" : "stream/") + place.output.1
    }

    /// Posts an offer.
    /// - Returns: the head and the body of the answer.
    func answer(to offer: String, of stream: String? = nil) throws -> String {
      let (status, answer) = try ask(
        stream.map { "stream/" + $0 } ?? "whep", "-i",
        "-H", "Content-Type: application/sdp", "--data-binary", offer)
      guard status == "201" else {
        throw HarnessError("the offer is not answered: \(status) \(answer)")
      }
      return answer
    }

    struct Figures: Decodable {
      let viewers: Int
      let state: String
      let streams: [String]?
    }

    /// - Parameter stream: one that viewers may choose; nil for the first one.
    func figures(of stream: String? = nil) throws -> Figures {
      let path = "figures" + (stream.map { "/" + $0 } ?? "")
      return try JSONDecoder().decode(Figures.self, from: Data(ask(path).answer.utf8))
    }
  }

  private func start(
    _ program: String, _ arguments: [String], in network: OwnNetwork?,
    environment: [String: String?] = [:]
  ) throws -> RunningProgram {
    try network?.start(program, arguments, environment: environment)
      ?? RunningProgram(program, arguments, environment: environment)
  }

  /// A page in a browser: Chromium, unless an argument of the script names another.
  final class BrowserPage {
    struct Sight: Decodable {
      let width: Int
      let pixels: Int
      let level: Double
      let state: String
      let advice: String
      /// Of the live page alone.
      let application: String?
      let cards: [Card]?
      let latencyParts: String?

      enum CodingKeys: String, CodingKey {
        case width, pixels, level, state, advice, application, cards
        case latencyParts = "latency-parts"
      }
    }

    struct Card: Decodable {
      let title: String
      let state: String
      let advice: String
      let width: Int
      /// The mean colour of its picture: red, green, blue.
      let color: [Int]
    }

    let program: RunningProgram
    /// A FIFO; nil if nobody uses the page.
    private let orders: FileHandle?

    /// - Parameters:
    ///   - script: a program of Tests/Tools that writes what the page shows.
    ///   - root: where orders for the page are passed; nil without `order`.
    ///   - screen: where its window is; nil without one.
    init(
      by script: String = "watch_page.py", _ arguments: String...,
      usedIn root: TemporaryRoot? = nil, on screen: VirtualScreen? = nil,
      in network: OwnNetwork? = nil
    ) throws {
      let path = root?.file("orders.\(UUID())")
      if let path { try output(of: "mkfifo", [path]) }
      // Open for both, so that this does not wait for the browser.
      orders = try path.map { try FileHandle(forUpdating: URL(filePath: $0)) }
      let arguments = arguments + (path.map { ["orders=" + $0] } ?? [])
      program = try start(
        "/usr/bin/python3", [tool(script)] + arguments + (screen == nil ? [] : ["window"]),
        in: network, environment: screen?.environment ?? [:])
      // A browser's first start takes minutes on a busy machine.
      try program.waitForOutput("\n", within: .seconds(300))
    }

    /// Presses a key (`press Tab`), clicks on an element (`click SELECTOR`), or evaluates an
    /// expression.
    /// - Returns: the value of the expression, in JSON.
    @discardableResult func order(_ text: String) throws -> String {
      guard let orders else { throw HarnessError("the page takes no orders") }
      func answers(_ lines: [Substring]) -> [Substring] { lines.filter { $0.hasPrefix("= ") } }
      let count = answers(program.output.text.completeLines()).count
      let line = Data((text.replacing("\n", with: " ") + "\n").utf8)
      try orders.write(contentsOf: line)
      let isThere = program.output.wait(until: .after(.seconds(300))) {
        answers($0.completeLines()).count > count
      }
      guard isThere else { throw HarnessError("no answer to \(text)\n\(program.transcript)") }
      return String(answers(program.output.text.completeLines())[count].dropFirst(2))
    }

    /// Waits until an expression is true.
    func wait(until expression: String) throws {
      try waitUntil(expression) { try order(expression) == "true" }
    }

    private static func sights(in lines: some Sequence<Substring>) -> [Sight] {
      lines.compactMap { try? JSONDecoder().decode(Sight.self, from: Data($0.utf8)) }
    }

    var newest: Sight? { Self.sights(in: program.output.text.completeLines().suffix(9)).last }

    /// Waits until the observations from now on fulfil a condition.
    func wait(for what: String, _ condition: ([Sight]) -> Bool) throws {
      let start = program.output.text.completeLines().count
      let isThere = program.output.wait(until: .after(.seconds(300))) {
        condition(Self.sights(in: $0.completeLines().dropFirst(start)))
      }
      guard isThere else { throw HarnessError("waited for \(what)\n\(program.transcript)") }
    }

    func waitForMovingPictures(state: String = "Live") throws {
      try wait(for: "moving pictures") { sights in
        Set(sights.filter { $0.width > 0 && $0.state == state }.map(\.pixels)).count > 3
      }
    }
  }
#endif
