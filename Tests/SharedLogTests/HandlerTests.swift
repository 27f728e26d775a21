import Logging
import SharedLog
import SharedLogHandler
import TestSupport
import Testing

/// Lines of swift-log's Logger reach the group's log.
@Suite struct HandlerTests {
  private let world: LogWorld

  init() throws { world = try LogWorld() }

  @Test func loggerLinesHaveLabelLevelMetadataAndSource() throws {
    let log = try world.log()
    var logger = Logger(label: "app") { SharedLogHandler(label: $0, log: log) }
    logger[metadataKey: "who"] = "logger"
    logger[metadataKey: "only"] = "here"
    let line: Int = #line + 1
    logger.error("it \(1 + 1)", metadata: ["who": "call", "list": ["a", "b"]])
    let record = try #require(try world.read().lines.first)
    #expect(record.label == "app")
    #expect(record.level == .error)
    #expect(record.message == "it 2")
    #expect(
      record.metadata == [
        LogField("list", "[\"a\", \"b\"]"), LogField("only", "here"), LogField("who", "call"),
      ])
    #expect(record.source == "SharedLogTests/HandlerTests.swift:\(line)")
  }

  @Test func copiedLoggerHasItsOwnLevelAndMetadata() throws {
    let log = try world.log { $0.minimumLevel = .notice }
    let first = Logger(label: "a") { SharedLogHandler(label: $0, log: log) }
    #expect(first.logLevel == .notice)
    var second = first
    second.logLevel = .error
    second[metadataKey: "k"] = "v"
    first.notice("one")
    second.notice("two")
    second.error("three")
    first.info("four")
    #expect(try world.messages() == ["one", "three"])
    #expect(try world.read().lines.map(\.metadata) == [[], [LogField("k", "v")]])
  }

  @Test func providerMetadataIsLoggedAndSecretsArePrivate() throws {
    let log = try world.log()
    let provider = Logger.MetadataProvider { ["from": "provider"] }
    let logger = Logger(label: "a") {
      SharedLogHandler(label: $0, log: log, metadataProvider: provider)
    }
    logger.info("x", metadata: ["key": "\("1234", attributes: [Privacy.secret])"])
    #expect(
      try world.read().lines.first?.metadata
        == [LogField("from", "provider"), LogField("key", "1234", isPrivate: true)])
  }
}
