import ArgumentParser
import CommandLineSupport
import Platform
import Upload
import UploadGStreamer
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
      let plan = try EncoderPlan(endpointTakes: result.codecs(of: "video"))
      if global.json {
        try global.terminal.printJSON(ProbeRecord(result, plan))
      } else {
        try ProbeText(result, plan).lines.forEach(global.terminal.print)
      }
    #else
      throw UsageError("this build lacks WHIP: it was built without the package trait Media")
    #endif
  }
}

#if Media
  /// The text output of a probe.
  private struct ProbeText {
    var lines: [String] = []

    init(_ probe: WHIPProbe, _ plan: EncoderPlan) {
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
      let used = plan.used.map(\.name).joined(separator: ", then ")
      lines.append(
        Self.row("encoder", plan.used.isEmpty ? "none" : "\(used) (\(plan.used[0].codec.rtpName))"))
      let others = plan.rows.compactMap { row in row.obstacle.map { "\(row.kind.name): \($0)" } }
      lines.append(Self.row("  not used", others.joined(separator: "; ")))
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

    struct Encoder: Encodable {
      let name: String
      let codec: String
      /// Nil if it is used, or takes the place of one that fails.
      let obstacle: String?
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
    /// The best first.
    let encoders: [Encoder]

    init(_ probe: WHIPProbe, _ plan: EncoderPlan) {
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
      encoders = plan.rows.map {
        Encoder(name: $0.kind.name, codec: $0.kind.codec.rtpName, obstacle: $0.obstacle)
      }
    }
  }
#endif
