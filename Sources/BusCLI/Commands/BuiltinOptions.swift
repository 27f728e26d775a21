import ArgumentParser
import Broadcast
import CommandLineSupport
import CredentialStore
import Platform
import Upload

/// The options of `framebus extension register --builtin`: those of `framebus upload` that a
/// broadcast can use, and those of a manifest.
struct BuiltinOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "ID for --builtin (default: \(BuiltinOptions.usualID)).", valueName: "id"))
  var id: String?
  @Option(
    help: ArgumentHelp(
      "Credential to hand over to --builtin; repeatable.",
      discussion: """
        The first is \(DestinationKind.secrets()).
        """,
      valueName: "service/account"))
  var credential: [String] = []
  @Option(
    help: ArgumentHelp(
      "Credential for the destination's own secret.", valueName: "service/account"))
  var secret: String?
  @Option(
    help: ArgumentHelp(
      "Samples: video, audio-app, audio-mic (default: all).", valueName: "list"))
  var samples: String?
  @Option(
    help: ArgumentHelp("Memory limit, if confined, in MiB.", valueName: "n"))
  var memoryLimitMb: Int?
  @OptionGroup var encoding: EncodingOptions
  @OptionGroup var connection: ConnectionOptions
  @OptionGroup var trust: WHIPTrustOptions
  @OptionGroup var media: WHIPMediaOptions

  static let usualID = "framebus.upload"

  /// The options on the command line, such as `--id=up`.
  var given: [String] { Self.withoutUsual(optionArguments) }

  private static func withoutUsual(_ options: [String]) -> [String] {
    options.filter { $0 != "--profile=\(WHIPMediaOptions.usualProfile)" }
  }

  /// - Throws: `UsageError` for options with which the uploader could not start.
  func manifest(to destination: String, _ kind: DestinationKind) throws -> ExtensionManifest {
    var uploadOptions = self
    uploadOptions.trust.ca = try trust.ca.map(Self.certificates)
    try refuseUseless(kind)
    let options =
      encoding.optionArguments + connection.optionArguments
      + uploadOptions.trust.optionArguments + Self.withoutUsual(media.optionArguments)
    var manifest: ExtensionManifest
    do {
      manifest = try .builtin(
        id: id ?? Self.usualID, destination: destination, options: options,
        credentials: [secret].compactMap(\.self) + credential)
      // Not first, because that one is the destination's own.
      if let relay = media.turnCredential { manifest.credentials.append(try CredentialName(relay)) }
      manifest.reads += [uploadOptions.trust.ca].compactMap(\.self)
      if let samples { manifest.samples = try Self.samples(samples) }
      manifest.memoryLimitBytes = memoryLimitMb.map { $0 << 20 }
      manifest = try ExtensionManifest(parsing: Array(manifest.text.utf8))
    } catch let error as ExtensionManifestError {
      throw UsageError(error.reason)
    } catch let error as CredentialError {
      throw UsageError("\(error)")
    }
    if manifest.arguments != ["null"] { try Self.check(manifest.arguments) }
    return manifest
  }

  /// Refuses options that the destination's kind does not read.
  private func refuseUseless(_ kind: DestinationKind) throws(UsageError) {
    var useless = [DestinationKind.png, .null].contains(kind) ? encoding.optionArguments : []
    if kind != .whip {
      useless += trust.optionArguments + Self.withoutUsual(media.optionArguments)
    }
    useless += connection.useless(for: [kind])
    if let option = useless.first {
      throw UsageError("\(option.prefix { $0 != "=" }) has no effect with \(kind.scheme):; omit it")
    }
    if secret != nil, kind.secret?.option != "secret" {
      throw UsageError(
        "--secret: the destination \(kind.scheme): has none; omit it"
          + (kind.secret == nil ? "" : ", or use --credential"))
    }
  }

  private static func samples(_ list: String) throws(UsageError) -> [SampleBufferType] {
    let names = list.split(separator: ",").map(String.init)
    let wanted = names.compactMap(SampleBufferType.init)
    guard !names.isEmpty, wanted.count == names.count else {
      let known = SampleBufferType.allCases.map(\.rawValue).joined(separator: ",")
      throw UsageError("--samples \(list): use some of \(known)")
    }
    return SampleBufferType.allCases.filter(wanted.contains)
  }

  /// - Returns: the absolute path, which a confined uploader may read.
  private static func certificates(_ path: String) throws(UsageError) -> String {
    let path = absolutePath(path)
    let slash = path.lastIndex(of: "/") ?? path.startIndex
    let name = String(path[path.index(after: slash)...])
    let folder = try? Directory(path: String(path[...slash]))
    let bytes = try? folder?.readFile(name, limit: 1 << 22).bytes
    guard let bytes, String(decoding: bytes, as: UTF8.self).contains("-----BEGIN CERTIFICATE")
    else {
      throw UsageError("--ca \(path): the file has no readable certificates; use the PEM format")
    }
    return path
  }

  /// The uploader itself decides whether it could start.
  private static func check(_ arguments: [String]) throws {
    guard let path = siblingProgram(named: "framebus-upload") else {
      throw BroadcastError.missingProgram("framebus-upload")
    }
    let program = try StartedProgram(
      "framebus-upload", path, ["check"] + arguments)
    guard let status = program.process.wait(), !status.isSuccess else { return }
    guard case StartedProgramError.ended(_, _, let words)? = program.errorIfEnded() else { return }
    throw UsageError(String(words.trimmingPrefix("error: ")))
  }
}

/// The options of `framebus upload` that an extension cannot use: its host chooses the streams, and
/// ends it. They are parsed so that the error can say so.
struct UnusableUploadOptions: ParsableArguments {
  @Option(help: .hidden) var stream: [String] = []
  @Option(help: .hidden) var policy: String?
  @Option(help: .hidden) var frames: String?
  @Option(help: .hidden) var duration: String?
  @Option(help: .hidden) var bearerFd: String?
  @Option(help: .hidden) var server: String?
  @Flag(help: .hidden) var skew = false
  @Flag(help: .hidden) var allowOld = false

  func validate() throws {
    guard let option = optionArguments.first else { return }
    throw ValidationError(
      "\(option.prefix { $0 != "=" }) does not apply: the host of a broadcast chooses its streams,"
        + " hands over its credentials and ends it; omit it")
  }
}
