import SharedDefaults
import Testing
import Upload

@testable import Broadcast

/// The figures of destinations, which any publishing member can write.
@Suite struct DestinationListTests {
  private let session: SessionID

  init() throws { session = try #require(SessionID("89abcdef01234567")) }

  private func figures(_ output: String) -> DestinationFigures {
    var figures = DestinationFigures(output: output)
    figures.state = .failed
    (figures.byteCount, figures.bitsPerSecond, figures.drops) = (1 << 40, 2_500_000, 7)
    figures.error = .stalled(output: output)
    var network = NetworkFigures()
    (network.targetBitsPerSecond, network.retransmittedPackets) = (2_000_000, 3)
    (network.roundTripNs, network.lostShare) = (40_000_000, 0.02)
    figures.network = network
    return figures
  }

  @Test func figuresAreReadAsTheyWereWritten() throws {
    let list = DestinationList(
      [figures("srt://a:1"), DestinationFigures(output: "b")], of: session)
    let read = try #require(DestinationList(list.value))
    #expect(read == list && read.session == session)
    #expect(read.figures[0].network == figures("").network)
    #expect("\(try #require(read.figures[0].error))".hasPrefix("srt://a:1 accepts no more data"))
    // What is too long is cut when it is written.
    let long = DestinationList(
      Array(repeating: figures(String(repeating: "ö", count: 600)), count: 20), of: session)
    #expect(long.figures.count == 16 && long.figures[0].output.utf8.count == 512)
    #expect(DestinationList(long.value) == long)
  }

  @Test func malformedFiguresAreLeftOut() throws {
    guard case .dictionary(let good) = DestinationList([figures("a")], of: session).value,
      case .array(let list)? = good["list"], case .dictionary(let row) = list[0]
    else { throw HarnessFailure() }
    func read(_ key: String, _ value: DefaultsValue?) -> [DestinationFigures]? {
      var (values, row) = (good, row)
      row[key] = value
      values["list"] = .array([.dictionary(row)])
      return DestinationList(.dictionary(values))?.figures
    }
    #expect(read("state", "burning") == [])
    #expect(read("output", .string(String(repeating: "a", count: 513))) == [])
    #expect(read("output", nil) == [])
    #expect(try #require(read("bytes", -1)).first?.byteCount == 0)
    #expect(try #require(read("lost", .double(.nan))).first?.network?.lostShare == nil)
    #expect(try #require(read("target", -5)).first?.network == nil)
    #expect(try #require(read("roundTrip", "x")).first?.network?.roundTripNs == nil)
    var values = good
    values["list"] = .array(Array(repeating: list[0], count: 17))
    #expect(DestinationList(.dictionary(values)) == nil)
    values = good
    values["session"] = "x"
    #expect(DestinationList(.dictionary(values)) == nil && DestinationList(nil) == nil)
  }

  private struct HarnessFailure: Error {}
}
