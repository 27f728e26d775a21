import Capture
import Platform
import SharedLog

/// What a user agrees to before a broadcast begins.
public struct BroadcastConsent: Hashable, Sendable {
  /// Who agreed.
  public enum Giver: String, Hashable, Sendable {
    /// The user, who was asked on a terminal.
    case terminal
    /// The option `--yes`.
    case option = "--yes"
    /// The application that makes the request; it has asked its user.
    case application
  }

  /// One thing that was chosen, as text for people.
  public struct Choice: Hashable, Sendable {
    /// What was chosen, such as `source`.
    public let name: String
    /// Its value.
    public let value: String
  }

  /// What others will see and hear.
  public let text: String
  /// What was chosen, in the order to show.
  public let choices: [Choice]
  /// Whether the broadcast captures something of the user's: a screen, a microphone, the sound of
  /// the machine, a device, or what an application publishes, which is unknown. A test pattern, a
  /// tone or a file needs no consent.
  public let isRequired: Bool
  /// The origin of the server that a setting names and no request has; nil for none.
  let server: String?
  /// Differs if anything differs that is not shown, such as a key in an address. Not the values
  /// themselves, because a consent is logged.
  private let fingerprint: Int

  /// The longest text, in bytes of UTF-8.
  public static let maximumTextBytes = 1024
}

extension BroadcastConsent {
  /// - Parameter found: the running roles of a session that the host adopts.
  init(
    to request: BroadcastRequest, for manifest: ExtensionManifest, adopting found: FoundRoles? = nil
  ) {
    let types = manifest.samples
    let source = try? SourceSpecification(request.source)
    // The picture is captured for an extension of sound alone too.
    let isPrivate = Self.isPrivate(request.source)
    let sounds = types.filter { $0 != .video && request.isOn($0) }
      .compactMap { type in request.soundOrigin(of: type).map { (type, $0) } }
    let destination = request.destination
    server = request.server == nil ? destination?.server?.origin : nil
    isRequired =
      isPrivate || server != nil
      // The microphone can be switched on later, without another question.
      || types.contains { $0 != .video && request.soundSource(of: $0).map(Self.isPrivate) == true }
    let picture =
      switch source {
      case .screen?, .wayland?:
        "Everything on your screen, including notifications, is shown"
      case .window?, .waylandWindow?: "Everything in the window is shown"
      case .camera?: "What your camera sees is shown"
      case .stream(let name)?:
        "The frames that applications of this group publish as \(name) are shown"
      default: "The source is shown"
      }
    let heard = sounds.filter { Self.isPrivate($0.1) }.map { type, origin in
      if type == .audioMic { return "your microphone" }
      let published = BroadcastRequest.publishedStream(of: origin)
      return published.map { "the sound published as \($0)" } ?? "the sound of your applications"
    }
    let sound = heard.isEmpty ? "" : " They hear \(heard.joined(separator: " and "))."
    text = request.consent ?? "\(picture) to others while this broadcast lasts.\(sound)"
    let settings = request.captureSettings(for: manifest)
    let soundText = sounds.map { "\($0.0.rawValue) of \(SourceKind.shown($0.1))" }
    let chosen: KeyValuePairs<String, String?> = [
      "source": SourceKind.shown(request.source),
      "extension": "\(manifest.id) (\(manifest.executable))",
      "uploads to": destination?.shown,
      "sound": sounds.isEmpty ? "none" : soundText.joined(separator: ", "),
      "protected": request.protectionText(for: manifest),
      "sandbox": request.isConfined ? "on" : "off",
      "adopts": found?.text,
    ]
    choices = chosen.compactMap { name, value in value.map { Choice(name: name, value: $0) } }
    var hasher = Hasher()
    hasher.combine(manifest)
    hasher.combine(destination)
    hasher.combine(settings)
    hasher.combine(request.source)
    hasher.combine(request.soundSources)
    hasher.combine(request.initialSound)
    hasher.combine(request.setup)
    hasher.combine(request.requiresConfinement)
    fingerprint = hasher.finalize()
  }

  private static func isPrivate(_ source: String) -> Bool {
    switch (try? SourceSpecification(source))?.kind.needs {
    case .nothing?, .file?: false
    case .display?, .compositor?, .grant?, .soundServer?, .pipeWire?, .camera?, .network?,
      .anything?,
      .publisher?, nil:
      true
    }
  }

  /// The fields of the line in the log.
  func logged(by giver: Giver?) -> [LogField] {
    let who = giver?.rawValue ?? "nobody, as none is required"
    return choices.map { LogField($0.name, $0.value) } + [LogField("by", who)]
  }
}

extension BroadcastRequest {
  /// Whether a kind of sound is on at the start.
  fileprivate func isOn(_ type: SampleBufferType) -> Bool { initialSound.isOn(type) }

  /// Where a kind of sound comes from, in the syntax of a source; nil if nothing provides it, or
  /// the source of the pictures does.
  fileprivate func soundOrigin(of type: SampleBufferType) -> String? {
    guard publishedStream != nil, type == .audioApp, let stream = stream(of: type) else {
      return soundSource(of: type)
    }
    return "\(SourceSpecification.stream(stream))"
  }
}

extension WindowProtection {
  /// The windows that are black, as text for people.
  var text: String {
    switch self {
    case .off: "no window"
    case .on(let rules):
      (["marked windows"] + rules.filter { $0 != .marked }.map(\.text)).joined(separator: ", ")
    }
  }
}
