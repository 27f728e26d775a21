import AppGroup
import Foundation
import Platform
import TestSupport

@testable import CredentialStore

/// A group with a store in a temporary root, with helpers for using it.
struct CredentialWorld {
  let root: TemporaryRoot
  let group: AppGroup
  let store: CredentialStore

  static let groupName = "org.example.test"
  static let name = {
    do { return try CredentialName(service: "whip.example.com", account: "studio") } catch {
      fatalError("\(error)")
    }
  }()

  init(passphrase: String? = nil) throws {
    root = try TemporaryRoot(mode: 0o755)
    group = try AppGroup.create(GroupID(Self.groupName), root: root.path)
    store = try CredentialStore.create(
      in: group, passphrase: try secretOrNone(passphrase), cost: .interactive)
  }

  func open(_ role: Role = .host, passphrase: String? = nil) throws -> CredentialStore {
    let group = try AppGroup.open(GroupID(Self.groupName), root: root.path)
    return try CredentialStore.open(
      in: group, as: role, passphrase: try secretOrNone(passphrase))
  }

  /// Adds a credential that the extension can open.
  func addShared(_ text: String = "token-1") throws {
    try store.add(
      Self.name, secret(text),
      options: CredentialOptions(label: "Studio", recipients: [.extension]))
  }

  var path: String { group.containerPath + "/credentials" }
  var anchorPath: String { group.runPath + "/credentials.anchor" }

  /// The names of the sealed files.
  func items() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path + "/items").sorted()
  }

  /// The relative paths of all files of the store except the lock.
  func files() throws -> [String] {
    try plainFiles(below: path).filter { $0 != ".lock" }
  }

  func bytes(_ name: String) throws -> [UInt8] {
    try Array(Data(contentsOf: URL(fileURLWithPath: path + "/" + name)))
  }

  /// Overwrites a file in place, which keeps its permissions.
  func overwrite(_ name: String, _ bytes: [UInt8]) throws {
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path + "/" + name))
    try handle.truncate(atOffset: 0)
    try handle.write(contentsOf: Data(bytes))
    try handle.close()
  }
}

func secret(_ text: String) throws(CredentialError) -> SecretBytes {
  try SecretBytes(copying: Array(text.utf8))
}

func secretOrNone(_ text: String?) throws(CredentialError) -> SecretBytes? {
  guard let text else { return nil }
  return try secret(text)
}

extension CredentialStore {
  /// The secret as a string, which only tests may use.
  func text(_ name: CredentialName = CredentialWorld.name) throws(CredentialError) -> String {
    try get(name).text
  }
}

extension SecretBytes {
  var text: String {
    withBytes { bytes in
      String(
        decoding: (0..<bytes.byteCount).map {
          // SAFETY: the offset is inside the span.
          unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self)
        }, as: UTF8.self)
    }
  }
}
