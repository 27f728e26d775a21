import Platform

/// Why frames cannot be sent to a destination.
public enum DestinationError: Error, Hashable, Sendable {
  case malformed(String)
  case unknownDestination(String, known: [String])
  case wrongExtension(path: String, known: [String])
  case cannotWrite(SystemError)
  /// Nothing was written.
  case tooLittleSpace(path: String, freeBytes: UInt64)
  /// The data written so far is complete.
  case diskFull(path: String, freeBytes: UInt64)
  case unknownEncoder(String, known: [String])
  /// An encoder of codecs that the destination does not take.
  case codecNotTaken(String, known: [String])
  case unknownPreset(String, encoder: String, known: [String])
  case malformedBitrate(String)
  case mediaLibraryFailed(String)
  case missingElement(String, package: String)
  case unusablePixelFormat(String, known: [String])
  case unusableSize(width: Int, height: Int, known: String)
  /// The bytes from one row to the next.
  case unusableRows(Int)
  case elementFailed(element: String, message: String, detail: String)
  case stalled(output: String)
  /// The peer was never reached, or could not be reached again.
  case noPeer(output: String, reason: String)
  case connectionLost(output: String, reason: String)
  /// The upload ended before any connection was established.
  case notConnected(output: String)
  case noSound(output: String)
  case noPictures(output: String)
  /// It cannot be one of several destinations.
  case notShared(output: String)
  case namedTwice(output: String)
  case secretInAddress(String)
  case unusableSecret(String)
  /// A failure at a network peer, described by the module that implements the protocol.
  /// - status: the HTTP status of a refusal.
  case peer(reason: String, isMisuse: Bool, status: Int? = nil)
}

extension DestinationError {
  /// Whether the command line is wrong, as opposed to a failure at run time.
  public var isMisuse: Bool {
    switch self {
    case .malformed, .unknownDestination, .wrongExtension, .unknownEncoder, .codecNotTaken,
      .unknownPreset,
      .malformedBitrate, .noSound, .notShared, .namedTwice, .secretInAddress, .unusableSecret:
      true
    case .peer(_, let isMisuse, _): isMisuse
    case .cannotWrite, .tooLittleSpace, .diskFull, .mediaLibraryFailed, .missingElement,
      .unusablePixelFormat, .noPictures, .unusableSize, .unusableRows, .elementFailed, .stalled,
      .noPeer,
      .connectionLost, .notConnected:
      false
    }
  }
}

extension DestinationError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .malformed(let text):
      "“\(DestinationKind.shown(text))” is not a destination; write " + Self.forms(text)
    case .unknownDestination(let text, let known):
      "this build has no destination “\(DestinationKind.shown(text))”; it has "
        + known.joined(separator: ", ")
    case .wrongExtension(let path, let known):
      "cannot determine the container of “\(path)” from its extension; end the path in "
        + known.map { ".\($0)" }.joined(separator: " or ")
    case .cannotWrite(let error):
      "cannot write \(error.path ?? "the output"): "
        + (error.isBusy
          ? "another program writes it; choose another file, or stop that program"
          : "\(error.reason); " + Self.hint(error))
    case .tooLittleSpace(let path, let freeBytes):
      "too little space for \(path) (\(freeBytes / 1024) KiB free); nothing was written: free some "
        + "space, or choose a path on another disk"
    case .diskFull(let path, let freeBytes):
      "no space left for \(path) (\(freeBytes / 1024) KiB free); the output is complete so far: "
        + "free some space, or choose a path on another disk"
    case .unknownEncoder(let name, let known):
      "this build has no encoder “\(name)”; it has \(known.joined(separator: ", "))"
    case .codecNotTaken(let name, let known):
      "the destination does not take what the encoder “\(name)” makes; choose one of "
        + known.joined(separator: ", ")
    case .unknownPreset(let preset, let encoder, let known):
      "encoder \(encoder) has no preset “\(preset)”; "
        + (known.isEmpty ? "write --encoder \(encoder)" : "it has " + known.joined(separator: ", "))
    case .malformedBitrate(let text):
      "“\(text)” is not a bitrate; write bits per second, such as 2500k or 4M"
    case .mediaLibraryFailed(let message):
      "GStreamer cannot start: \(message); run `framebus doctor`"
    case .missingElement(let element, let package):
      "GStreamer has no element \(element); install the Debian package \(package)"
    case .unusablePixelFormat(let format, let known):
      "frames of pixel format \(format) cannot be encoded; publish one of "
        + known.joined(separator: ", ")
    case .unusableSize(let width, let height, let known):
      "frames of \(width)×\(height) pixels cannot be encoded; publish \(known)"
    case .unusableRows(let byteCount):
      "frames whose rows are \(byteCount) bytes apart cannot be encoded; publish rows at most "
        + "\(Int32.max) bytes apart"
    case .elementFailed(let element, let message, let detail):
      "GStreamer element \(element) failed: \(message)"
        + (detail.isEmpty ? "" : " (\(detail))")
        + "; set GST_DEBUG=3 to see what it was doing"
    case .noSound(let output):
      "\(output) cannot carry sound; omit the other --stream options, or record to file:PATH.mkv"
    case .notShared(let output):
      "\(output) cannot be one of several destinations; upload to it alone"
    case .namedTwice(let output): "\(output) is named twice; name each destination once"
    case .secretInAddress(let scheme):
      "a secret in an address is visible to every process; store it by `framebus credential add`, "
        + "and name it: \(scheme)://HOST… --secret SERVICE/ACCOUNT"
    case .unusableSecret(let why):
      "the credential of --secret cannot be used: \(why); replace it with `framebus credential add`"
    case .noPictures(let output):
      "\(output) started with sound only, and now there are pictures; name their stream first"
    case .stalled(let output):
      "\(output) accepts no more data; check the disk or the network behind it"
    case .noPeer(let output, let reason):
      "no peer accepts data for \(output) (\(reason)); check the address and the server's log"
    case .connectionLost(let output, let reason):
      "the connection to \(output) is lost (\(reason)); check the network and the server's log"
    case .notConnected(let output):
      "nothing was sent: no connection to \(output) was established before the end; check the "
        + "server's log, or give it more time with --duration"
    case .peer(let reason, _, _): reason
    }
  }

  /// How to write the destination that was meant.
  private static func forms(_ text: String) -> String {
    let scheme = text.prefix { $0 != ":" }
    let meant = DestinationKind.all.first { $0.scheme == scheme }
    return meant?.forms.joined(separator: " or ") ?? "SCHEME:ADDRESS, such as file:out.mkv"
  }

  private static func hint(_ error: SystemError) -> String {
    error.reasonKind == .noSpace
      ? "free some space, or choose a path on another disk"
      : "choose a path in a directory that exists and that you may write to"
  }
}
