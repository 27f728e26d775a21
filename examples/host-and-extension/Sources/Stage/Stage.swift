import AppGroup
import Broadcast
import CredentialStore
import Foundation
import Platform
import SharedDefaults
import SharedLog

/// Something that an example waited for did not happen.
public struct Missing: Error, CustomStringConvertible {
  let what: String
  public var description: String { "the example waited in vain for \(what)" }
}

extension AsyncStream.Iterator where Element == BroadcastEvent {
  /// Takes events until one matches. Fails if the broadcast finishes first.
  public mutating func wait(
    isolation: isolated (any Actor)? = #isolation,
    until isWanted: @Sendable (BroadcastEvent) -> Bool
  ) async throws {
    while let event = await next(isolation: isolation) {
      if isWanted(event) { return }
      if case .finished(let ending) = event {
        throw Missing(what: "an event; the broadcast \(ending)")
      }
    }
    throw Missing(what: "an event")
  }
}

/// The group of one example, with the extension Uploader registered. Deinitialising removes it.
public final class Stage: Sendable {
  public let group: AppGroup
  public let settings: SharedDefaults
  public static let extensionID = "dev.example.uploader"
  private let root: URL

  /// Runs an example. Prints an error on standard error and exits with status 1 if it fails.
  public static func run(_ example: () async throws -> Void) async {
    do { try await example() } catch {
      FileHandle.standardError.write(Data("error: \(error)\n".utf8))
      exit(1)
    }
  }

  public init() throws {
    root = FileManager.default.temporaryDirectory
      .appending(path: "fb-" + String(UInt32.random(in: 0 ... .max), radix: 36))
    try FileManager.default.createDirectory(at: root, withIntermediateDirectories: false)
    group = try AppGroup.create(GroupID("group.dev.example"), root: root.path)
    settings = try SharedDefaults(in: group)
    let own = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    let manifest = """
      version = 1
      id = "\(Stage.extensionID)"
      executable = "\(own.deletingLastPathComponent().path)/Uploader"
      samples = ["video"]
      credentials = ["whip.example.com/studio"]

      [format]
      width = 320
      height = 180
      fps = 30
      """
    try ExtensionRegistry(group).register(ExtensionManifest(parsing: Array(manifest.utf8)))
  }

  /// Seals a token, as a host does after its user has signed in.
  public func signIn(token: String) throws {
    let name = try CredentialName(service: "whip.example.com", account: "studio")
    let store = try CredentialStore.create(in: group)
    try store.set(name, SecretBytes(copying: Array(token.utf8)))
  }

  /// The request that the examples start.
  public var request: BroadcastRequest {
    BroadcastRequest(extensionID: Stage.extensionID, source: "test:gradient")
  }

  /// A host's controller and a stream of its events.
  public func controller() throws -> (BroadcastController, AsyncStream<BroadcastEvent>) {
    let (events, continuation) = AsyncStream.makeStream(of: BroadcastEvent.self)
    return (try BroadcastController(in: group) { continuation.yield($0) }, events)
  }

  /// Follows the log until a role has written a line. Fails after half a minute.
  public func wait(for message: String, from role: Role) throws {
    let reader = try LogReader(group, isFollowing: true)
    let (end, never) = (Deadline.after(.seconds(30)), try StopSignal())
    repeat {
      while let entry = try reader.next() {
        if case .line(let line) = entry, line.run.role == role, line.message == message { return }
      }
    } while try reader.wait(stop: never, until: end)
    throw Missing(what: "the line '\(message)' of the \(role)")
  }

  /// The lines of level notice and above that a role logged, in order.
  public func log(of role: Role) throws -> [String] {
    var lines: [String] = []
    let reader = try LogReader(group)
    while let entry = try reader.next() {
      if case .line(let line) = entry, line.run.role == role, line.level >= .notice {
        lines.append(line.message)
      }
    }
    return lines
  }

  /// The number of files in the group that contain a text.
  public func fileCount(containing text: String) -> Int {
    let files = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
    return files?.compactMap { $0 as? URL }.filter {
      (try? Data(contentsOf: $0, options: .alwaysMapped))?.range(of: Data(text.utf8)) != nil
    }.count ?? 0
  }

  deinit { try? FileManager.default.removeItem(at: root) }
}
