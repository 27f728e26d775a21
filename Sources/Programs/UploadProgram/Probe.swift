import ArgumentParser
import CommandLineSupport
import Platform
import Upload
import WHIP

/// `framebus whip probe URL`.
struct Probe: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "probe", abstract: "Show a WHIP endpoint's answer and features.")

  @OptionGroup var probe: WHIPProbeOptions
  @OptionGroup var global: GlobalOptions

  func run() throws {
    #if Media
      let signals = try SignalWatcher()
      let result: WHIPProbe
      do {
        let bearer = try EndpointSecrets(probe.access, global).bearer()
        // Also as `framebus upload` takes it.
        let address = probe.address.trimmingPrefix("\(DestinationKind.whip.scheme):")
        let endpoint = try WHIPEndpoint(
          String(address), bearer: bearer, allowsPlainHTTP: probe.access.trust.allowHttp)
        result = try WHIPProbe(
          endpoint, client: CurlClient(certificates: probe.access.trust.ca), stop: signals.stop)
      } catch let error as WHIPError where error.isMisuse {
        throw UsageError("\(error)")
      } catch  where signals.isInterrupted {
        throw Interrupted()
      }
      if global.json {
        try global.terminal.printJSON(ProbeRecord(result))
      } else {
        try ProbeText(result).lines.forEach(global.terminal.print)
      }
    #else
      throw UsageError("this build lacks WHIP: it was built without the package trait Media")
    #endif
  }
}

/// The text output of a probe.
private struct ProbeText {
  var lines: [String] = []

  init(_ probe: WHIPProbe) {
    lines.append("\(probe.address): a WHIP endpoint")
    lines.append("session      \(probe.resource)")
    for section in probe.sections {
      let codecs = section.isAccepted ? section.codecs.joined(separator: ", ") : "refused"
      lines.append(Self.row(section.kind, codecs.plain))
      if !section.extensions.isEmpty {
        lines.append(Self.row("  extensions", section.extensions.joined(separator: ", ").plain))
      }
    }
    let lite = probe.isLite ? ", ICE lite" : ""
    lines.append(Self.row("candidates", "\(probe.candidateCount) in the answer\(lite)"))
    let servers = probe.servers.map(\.description).joined(separator: ", ")
    lines.append(Self.row("ICE servers", servers.isEmpty ? "none" : servers.plain))
    lines.append(Self.row("PATCH", probe.takesCandidates ? "takes candidates" : "no"))
    lines.append(Self.row("ETag", probe.hasEntityTag ? "yes" : "no"))
    lines.append(Self.row("DELETE", probe.removalError == nil ? "removes the session" : "no"))
    let lacks = probe.lacks
    lines.append(Self.row("lacks", lacks.isEmpty ? "nothing" : lacks.joined(separator: "; ")))
  }

  private static func row(_ name: String, _ value: String) -> String {
    name + String(repeating: " ", count: max(1, 13 - name.count)) + value
  }
}

/// The JSON output of a probe.
private struct ProbeRecord: Encodable {
  struct Media: Encodable {
    let kind: String
    let accepted: Bool
    let codecs: [String]
    let extensions: [String]
  }

  let url: String
  let session: String
  let media: [Media]
  let iceServers: [String]
  let candidates: Int
  let iceLite: Bool
  let patch: Bool
  let etag: Bool
  let delete: Bool
  let lacks: [String]

  init(_ probe: WHIPProbe) {
    url = "\(probe.address)"
    session = "\(probe.resource)"
    media = probe.sections.map {
      Media(
        kind: $0.kind, accepted: $0.isAccepted, codecs: $0.codecs, extensions: $0.extensions)
    }
    iceServers = probe.servers.map(\.description)
    candidates = probe.candidateCount
    iceLite = probe.isLite
    patch = probe.takesCandidates
    etag = probe.hasEntityTag
    delete = probe.removalError == nil
    lacks = probe.lacks
  }
}
