import AppGroup
import Capture
import CredentialStore
import FrameBus
import Platform
import Upload

/// The description of an extension: a TOML file, registered in the group (``ExtensionRegistry``).
///
/// ```toml
/// version = 1
/// id = "dev.example.uploader"
/// executable = "/opt/example/uploader"
/// arguments = ["--quiet"]
/// samples = ["video", "audio-app"]
/// credentials = ["whip.example.com/studio"]
/// memory-limit-mb = 50
/// writes = ["/srv/recordings/"]
///
/// [format]
/// width = 1280
/// height = 720
/// fps = 30
///
/// [capture]
/// protect = ["keepassxc"]
/// cursor = false
/// ```
public struct ExtensionManifest: Hashable, Sendable {
  /// The version this code reads and writes.
  static let version = 1
  /// Larger files are refused without being read.
  static let maximumBytes = 16384
  static let maximumArgumentCount = 64
  static let maximumNameLength = 64
  /// All keys of a manifest, and those of its tables (docs/design/extension-manifest.md).
  static let keys = [
    "version", "id", "executable", "display-name", "icon", "arguments", "samples", "credentials",
    "memory-limit-mb", "reads", "writes", "application", "format", "capture",
  ]
  static let formatKeys = ["width", "height", "fps"]

  /// 1…48 bytes of `a–z`, `0–9`, `.`, `-` and `_`, beginning with a letter or digit.
  public let id: String
  /// An absolute path, or the name of a program beside `framebus` or in PATH.
  public let executable: String
  /// The name that a picker shows; nil for the ID. At most 64 characters, in one line.
  public var displayName: String?
  /// The absolute path of a picture that a picker may show.
  public var icon: String?
  /// The program's arguments.
  public var arguments: [String] = []
  /// Pictures first.
  public var samples: [SampleBufferType] = [.video]
  /// The format of pictures that it prefers.
  public var format = PreferredFormat()
  /// How the extension prefers the source to be captured. The rate and the size are in ``format``.
  public var capture = CaptureSettings()
  /// The process's memory budget in bytes; nil for no limit.
  public var memoryLimitBytes: Int?
  /// The credentials that the host hands over at the start, as far as its store has them.
  public var credentials: [CredentialName] = []
  /// Absolute paths that a confined extension may read and write. Of its program it can read only
  /// the file: list libraries beside it here. A missing path in `writes` is created before the
  /// start: a directory if it ends with a slash, an empty file otherwise.
  public var reads: [String] = []
  /// Paths that it may write as well.
  public var writes: [String] = []
  /// A program that a user can run after the broadcast has failed, such as one to sign in, with its
  /// arguments; empty for none. A host runs it only if its user says so.
  public var application: [String] = []

  /// The picture format that the extension prefers.
  public struct PreferredFormat: Hashable, Sendable {
    /// Pixels; nil leaves the size to the source.
    public var width: Int?
    /// Pixels.
    public var height: Int?
    /// The rate; nil leaves it to the source.
    public var framesPerSecond: Int?
  }
}

/// A malformed manifest: the line, and the error in it.
public struct ExtensionManifestError: Error, Hashable, Sendable {
  /// The line, which counts from 1.
  public let line: Int
  /// The error.
  public let reason: String
}

extension ExtensionManifest {
  /// Parses the text of a manifest, which is not trusted.
  public init(parsing bytes: [UInt8]) throws(ExtensionManifestError) {
    let root: [String: TOMLValue]
    do {
      root = try TOMLDocument(parsing: bytes).root
    } catch {
      throw ExtensionManifestError(line: error.line, reason: error.reason)
    }
    let table = ManifestTable(root, name: "the manifest")
    try table.refuseUnknown(Self.keys)
    let version = try table.integer("version", in: 1...Int.max)
    if version != Self.version {
      throw table.error(
        "version",
        version == nil
          ? "the key version is missing"
          : "the manifest has version \(version ?? 0)"
            + ", and this FrameBus reads version \(Self.version)")
    }
    guard let id = try table.string("id") else { throw table.error("id", "the key id is missing") }
    if NameRule(brokenBy: id) != nil {
      throw table.error(
        "id",
        "an id has 1 to \(NameRule.maximumBytes) of a-z, 0-9, ., - and _, beginning with a"
          + " letter or digit")
    }
    guard let executable = try table.string("executable"), !executable.isEmpty else {
      throw table.error("executable", "the key executable is missing or empty")
    }
    try Self.requireProgram(executable, "executable", table)
    self.init(id: id, executable: executable)
    displayName = try table.string("display-name")
    if let name = displayName, name.isEmpty || name.count > Self.maximumNameLength || !name.isPlain
    {
      throw table.error(
        "display-name",
        "display-name has 1 to \(Self.maximumNameLength) characters in one line, without control"
          + " characters")
    }
    icon = try table.string("icon")
    if let icon, !icon.hasPrefix("/") {
      throw table.error("icon", "\(icon.plain) is not an absolute path; icon is one")
    }
    arguments = try table.strings("arguments") ?? []
    if arguments.count > Self.maximumArgumentCount {
      throw table.error("arguments", "there are more than \(Self.maximumArgumentCount) arguments")
    }
    if let names = try table.strings("samples") { samples = try Self.samples(names, table) }
    credentials = try Self.credentials(table.strings("credentials") ?? [], table)
    reads = try Self.paths("reads", table)
    writes = try Self.paths("writes", table)
    application = try table.strings("application") ?? []
    if let program = application.first { try Self.requireProgram(program, "application", table) }
    memoryLimitBytes = try table.integer("memory-limit-mb", in: 1...1 << 20).map { $0 << 20 }
    if let inner = try table.table("format") { format = try Self.format(inner) }
    if let inner = try table.table("capture") { capture = try CaptureSettings(inner) }
  }

  /// The program of ``builtin(id:destination:options:credentials:)``.
  static let builtinExecutable = "framebus-upload"

  /// The manifest of `framebus-upload` as an extension. A path in the destination is stored as an
  /// absolute path, and may be written.
  /// - Parameter options: further options of `framebus upload`.
  public static func builtin(
    id: String, destination: String, options: [String] = [], credentials: [String] = []
  ) throws(ExtensionManifestError) -> ExtensionManifest {
    var manifest = ExtensionManifest(id: id, executable: builtinExecutable)
    manifest.arguments = [destination]
    let named = try? DestinationSpecification(destination)
    if let device = named?.devicePath { manifest.writes = [device] }
    if let named, let kind = named.kind, kind.needs == .file || kind.needs == .directory {
      let path = absolutePath(named.path)
      manifest.arguments = [named.at(path)]
      manifest.writes = [kind.needs == .directory && !path.hasSuffix("/") ? path + "/" : path]
    }
    manifest.samples = SampleBufferType.allCases
    manifest.credentials = try Self.credentials(credentials, ManifestTable([:], name: ""))
    if credentials.isEmpty, named?.followsSetting == true {
      manifest.credentials = [whipCredential].compactMap(\.self)
    }
    if let secret = credentials.first, let option = named?.kind?.secret?.option {
      manifest.arguments.append("--\(option)=\(secret)")
    }
    manifest.arguments += options
    return try ExtensionManifest(parsing: Array(manifest.text.utf8))
  }

  /// The extension that every group has without registering it: `framebus-upload` to the WHIP
  /// server of the setting `whipURL`, with the credential `whip/bearer`, if there is one.
  public static let whipID = "framebus.whip"
  package static let whipCredential = try? CredentialName("whip/bearer")

  static var whip: ExtensionManifest {
    var manifest = ExtensionManifest(id: whipID, executable: builtinExecutable)
    manifest.arguments = [DestinationKind.whip.scheme]
    manifest.samples = SampleBufferType.allCases
    manifest.credentials = [whipCredential].compactMap(\.self)
    return manifest
  }

  private static func requireProgram(
    _ text: String, _ key: String, _ table: ManifestTable
  ) throws(ExtensionManifestError) {
    guard !text.isEmpty, !text.contains("/") || text.hasPrefix("/") else {
      throw table.error(key, "use an absolute path, or the bare name of a program in PATH")
    }
  }

  private static func samples(
    _ names: [String], _ table: ManifestTable
  ) throws(ExtensionManifestError) -> [SampleBufferType] {
    for name in names where SampleBufferType(rawValue: name) == nil {
      let known = SampleBufferType.allCases.map(\.rawValue).joined(separator: ", ")
      throw table.error("samples", "\(name.plain) is not a kind of samples; use \(known)")
    }
    let samples = SampleBufferType.allCases.filter { names.contains($0.rawValue) }
    if samples.isEmpty { throw table.error("samples", "the list of samples is empty") }
    return samples
  }

  private static func credentials(
    _ texts: [String], _ table: ManifestTable
  ) throws(ExtensionManifestError) -> [CredentialName] {
    var names: [CredentialName] = []
    for text in texts {
      guard let slash = text.lastIndex(of: "/"),
        let name = try? CredentialName(
          service: String(text[..<slash]), account: String(text[text.index(after: slash)...]))
      else {
        throw table.error(
          "credentials", "\(text.plain) does not have the form SERVICE/ACCOUNT")
      }
      names.append(name)
    }
    return names
  }

  private static func paths(
    _ key: String, _ table: ManifestTable
  ) throws(ExtensionManifestError) -> [String] {
    let paths = try table.strings(key) ?? []
    if let wrong = paths.first(where: { !$0.hasPrefix("/") || $0 == "/" }) {
      throw table.error(key, "\(wrong.plain) is not an absolute path below /")
    }
    return paths
  }

  private static func format(
    _ table: ManifestTable
  ) throws(ExtensionManifestError) -> PreferredFormat {
    try table.refuseUnknown(Self.formatKeys)
    let sides = 1...FrameFormat.maximumSide
    let format = PreferredFormat(
      width: try table.integer("width", in: sides), height: try table.integer("height", in: sides),
      framesPerSecond: try table.integer("fps", in: 1...1000))
    if (format.width == nil) != (format.height == nil) {
      throw table.error("width", "set both width and height, or neither")
    }
    return format
  }

  /// The text of the file.
  public var text: String {
    func list(_ texts: [String]) -> String {
      "[" + texts.map { "\"\(Self.escaped($0))\"" }.joined(separator: ", ") + "]"
    }
    var text = """
      # An extension for `framebus broadcast start \(id)`.
      version = \(Self.version)
      id = "\(id)"
      executable = "\(Self.escaped(executable))"
      arguments = \(list(arguments))
      samples = \(list(samples.map(\.rawValue)))
      credentials = \(list(credentials.map(\.description)))
      reads = \(list(reads))
      writes = \(list(writes))

      """
    if !application.isEmpty { text += "application = \(list(application))\n" }
    if let displayName { text += "display-name = \"\(Self.escaped(displayName))\"\n" }
    if let icon { text += "icon = \"\(Self.escaped(icon))\"\n" }
    if let memoryLimitBytes { text += "memory-limit-mb = \(memoryLimitBytes >> 20)\n" }
    let fields = [
      ("width", format.width), ("height", format.height), ("fps", format.framesPerSecond),
    ].compactMap { name, value in value.map { "\(name) = \($0)\n" } }
    if !fields.isEmpty { text += "\n[format]\n" + fields.joined() }
    let preferences = capture.manifestLines
    if !preferences.isEmpty { text += "\n[capture]\n" + preferences.joined() }
    return text
  }

  static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": result += "\\\(scalar)"
      case _ where scalar.value < 0x20 || scalar.value == 0x7f:
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
