import AppGroup
import Capture
import Confinement
import CredentialStore
import Platform
import SharedLog

/// The rights of each role: what its kind needs, and the grants of the manifest.
extension RoleStarter {
  /// - Returns: nil if grants cannot express the needs.
  func confinement(of needs: CaptureNeeds, as user: UserAccount?) -> Confinement? {
    switch needs {
    case .nothing, .grant: return .capture(in: group, as: user)
    case .display(let name, let compositor):
      return .capture(in: group, display: name, compositor: compositor, as: user)
    case .compositor(let socket):
      return .capture(in: group, compositor: socket ?? "", as: user)
    // As the extension's, without its credentials and outputs.
    case .network: return .extension(in: group, as: user)
    case .soundServer: return .soundCapture(in: group, as: user)
    case .pipeWire: return .pipeWireCapture(in: group, as: user)
    case .file(let path):
      var confinement = Confinement.capture(in: group, as: user)
      confinement.grants.append(.init(.read, path))
      return confinement
    case .camera(let path):
      var confinement = Confinement.capture(in: group, as: user)
      confinement.grants.append(.init(.write, path))
      // It takes the capture's place if the pictures need a decoder.
      if let decoding = productProgram(named: SourceKind.mediaProgram) {
        confinement.grants.append(.init(.run, decoding))
      }
      return confinement
    case .unknown: return nil
    }
  }

  /// Grants the program's file but not its directory, which may be a user's home. Creates missing
  /// outputs: a directory if the path ends with a slash, an empty file otherwise.
  func confinement(of manifest: ExtensionManifest, as user: UserAccount?) -> Confinement {
    var confinement = Confinement.extension(
      in: group, memoryBytes: manifest.memoryLimitBytes.map(UInt64.init), as: user)
    confinement.grants += CredentialStore.grants(for: .extension, in: group)
    if manifest.namesGraphicsEncoder {
      confinement.grantRenderNodes()
      log.append(
        .notice, "the extension may use the graphics card, for the encoder that it names",
        label: Self.label)
    }
    confinement.grants += manifest.reads.map { .init(.read, $0) }
    for path in manifest.writes {
      // A device that is missing is not created as a file.
      if path.hasPrefix("/dev/") {
        confinement.grants.append(.init(.write, path))
        continue
      }
      do throws(SystemError) {
        if let placeholder = try OutputPlaceholder(at: path, for: user) {
          placeholders.withLock { $0.append(placeholder) }
        }
      } catch {
        log.append(.warning, "the extension cannot write: \(error)", label: Self.label)
      }
      confinement.grants.append(.init(.write, path))
    }
    return confinement
  }

  /// Removes output placeholders that nobody wrote to, so that a failed start leaves nothing
  /// behind. Call it when the roles have exited.
  func removeUnwritten() {
    let unwritten = placeholders.withLock { placeholders in
      defer { placeholders = [] }
      return placeholders
    }
    for placeholder in unwritten { placeholder.removeIfUnwritten() }
  }

  /// Logs each measure.
  /// - Returns: how the role is confined, as text for people.
  func describe(_ measures: [Measure], of role: Role) -> String {
    let texts = measures.map { "\($0.name) \($0.isOn ? "on" : "off"): \($0.detail)" }
    log.append(
      .info, "the \(role) is confined: \(texts.joined(separator: "; "))", label: Self.label)
    guard let why = Self.weakness(of: measures) else { return "on" }
    log.append(
      .notice, "the \(role) is confined only in part on this machine: \(why)", label: Self.label)
    let off = measures.filter { !$0.isOn }
    return "on, without \(off.map(\.name).joined(separator: ", "))"
  }
}
