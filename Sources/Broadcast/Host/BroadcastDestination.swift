import AppGroup
import Platform
import SharedDefaults
import Upload

/// Where `framebus-upload`, as an extension, sends a broadcast. The host reads it once, shows it in
/// the consent and hands it over, because any member can write the setting `whipURL` meanwhile.
struct BroadcastDestination: Hashable, Sendable {
  /// For people, without what may be a secret.
  let shown: String
  /// The server that the setting `whipURL` names; nil if the manifest names the destination.
  let server: WebAddress?

  /// - Parameter agreed: the server that the setting may name; nil for any.
  /// - Returns: nil for another program, which alone knows where it sends.
  init?(
    of manifest: ExtensionManifest, agreed: String?, in group: AppGroup
  ) throws(BroadcastError) {
    guard manifest.followsServerSetting else {
      if agreed != nil { throw .server(.useless(extensionID: manifest.id)) }
      guard let shown = manifest.shownDestination else { return nil }
      self.shown = shown
      server = nil
      return
    }
    let settings: SharedDefaults
    do throws(DefaultsError) { settings = try SharedDefaults(in: group) } catch {
      throw .settings(error)
    }
    guard settings.value(forKey: ExtensionRegistry.serverKey) != nil else {
      throw .server(.missing(settings.name))
    }
    guard let address = ExtensionRegistry(group).whipAddress.flatMap({ WebAddress($0) }) else {
      throw .server(.malformedSetting)
    }
    if let agreed {
      guard let server = WebAddress(server: agreed) else { throw .server(.malformed(agreed)) }
      guard address.hasSameOrigin(as: server) else {
        throw .server(.other(named: address.origin, agreed: server.origin))
      }
    }
    shown = "\(address)"
    server = address
  }
}

extension ExtensionManifest {
  /// Whether its program is the uploader of this installation, and not another of that name.
  private var isBuiltin: Bool {
    executable == Self.builtinExecutable
      || executable == productProgram(named: Self.builtinExecutable)
  }

  /// The arguments that name a destination; none for a program whose arguments have another
  /// meaning. Of several, some may be values of options, such as a stream called “null”.
  private var destinations: [DestinationSpecification] {
    if !isBuiltin { return [] }
    return arguments.compactMap { try? DestinationSpecification($0) }.filter { $0.kind != nil }
  }

  /// Whether its program keeps the last seconds in memory; nil if only that program knows.
  package var keepsReplay: Bool? { isBuiltin ? destinations.contains { $0.kind == .replay } : nil }

  /// Whether its program offers a camera of PipeWire.
  package var offersCameraNode: Bool {
    destinations.contains { $0.kind?.needs == .camera && $0.devicePath == nil }
  }

  /// Whether its user named an encoder that needs a graphics card, such as `--encoder=va`.
  package var namesGraphicsEncoder: Bool {
    guard isBuiltin else { return false }
    let values = arguments.enumerated().compactMap { index, word -> String? in
      if word == "--encoder" { return arguments.dropFirst(index + 1).first }
      return word.hasPrefix("--encoder=") ? String(word.dropFirst("--encoder=".count)) : nil
    }
    return values.contains { value in
      EncoderKind.all.contains { $0.name == value && $0.device == .renderNode }
    }
  }

  /// Whether its program sends to the server of the setting `whipURL`.
  fileprivate var followsServerSetting: Bool {
    destinations.count == 1 && destinations[0].followsSetting
  }

  /// The destinations in its arguments, and what may be one.
  fileprivate var shownDestination: String? {
    let texts = destinations.map { named in
      let address = named.kind == .whip ? WebAddress(named.address) : nil
      return address?.description ?? DestinationKind.shown(named.description)
    }
    return texts.isEmpty ? nil : texts.joined(separator: " and ")
  }
}

/// Why a broadcast is not sent to the server that the setting `whipURL` names.
public enum BroadcastServerError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The suite has no such setting.
  case missing(SuiteName)
  /// The setting is not an address.
  case malformedSetting
  /// ``BroadcastRequest/server`` is not an address.
  case malformed(String)
  /// ``BroadcastRequest/server`` has another origin.
  case other(named: String, agreed: String)
  /// Nobody has agreed to the server.
  case unnamed(origin: String)
  /// The extension does not read the setting.
  case useless(extensionID: String)

  /// Whether the command line is wrong, as opposed to the setting.
  public var isMisuse: Bool {
    switch self {
    case .malformed, .unnamed, .useless: true
    case .missing, .malformedSetting, .other: false
    }
  }

  public var description: String {
    switch self {
    case .missing(let suite):
      "the setting whipURL names no WHIP server; set it with"
        + " `framebus defaults write \(suite) whipURL https://HOST/PATH`"
    case .malformedSetting:
      "the setting whipURL is malformed; use the address of a WHIP server, https://HOST/PATH"
    case .malformed(let text):
      "“\(text.withoutSecrets.plain)” is not the address of a server; write it as"
        + " https://HOST[:PORT]"
    case .other(let named, let agreed):
      "the setting whipURL names \(named), not \(agreed), to which --server agrees; correct the"
        + " setting, or agree to the other server"
    case .unnamed(let origin):
      "nobody has agreed to send to \(origin), which the setting whipURL names: any member can"
        + " write it; add --server \(origin) if that is the right server"
    case .useless(let extensionID):
      "the extension \(extensionID.plain) does not read the setting whipURL, so --server has no"
        + " effect; omit it"
    }
  }
}
