import ArgumentParser
import CommandLineSupport
import Platform
import Replay
import Upload

/// `framebus-upload check`, which `framebus extension register --builtin` runs: whether an upload
/// with these options could start. It opens no secret and sends nothing.
struct Check: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Check the options of an upload.", shouldDisplay: false)

  @OptionGroup var upload: UploadOptions
  @OptionGroup var global: GlobalOptions

  func run() throws {
    var send = Send()
    send.upload = upload
    send.global = global
    // The store may be locked, and a credential may be added later.
    send.upload.access.credential = nil
    send.upload.media.turnCredential = nil
    // Its group may not exist yet.
    for (index, text) in send.upload.destinations.enumerated() {
      guard let named = try? DestinationSpecification(text), named.kind == .replay else { continue }
      guard ReplayLength(named.address) != nil else {
        throw UsageError("\(named.description.plain): \(ReplayLength.advice)")
      }
      send.upload.destinations[index] = "udp:localhost:9"
    }
    if send.followsAddress { send.upload.destinations = ["whip:https://localhost"] }
    _ = try send.destination(ProgressDisplay(global.terminal), opensSecrets: false)
  }
}
