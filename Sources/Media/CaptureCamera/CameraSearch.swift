import FrameBus
import Platform

/// The cameras of this machine.
public enum CameraSearch {
  /// More device files are not looked at.
  private static let maximumCount = 256

  /// The paths of Video4Linux devices, by number. Not all capture.
  static func paths() -> [String] {
    let names = (try? Directory(path: "/dev").names(atMost: 16_384)) ?? []
    let numbers = names.compactMap { name in
      name.hasPrefix("video") ? UInt16(name.dropFirst(5)) : nil
    }
    return numbers.sorted().prefix(maximumCount).map { "/dev/video\($0)" }
  }

  /// All cameras, including those that this user may not open or another program uses.
  public static func all() -> [ListedCamera] {
    paths().compactMap { ListedCamera($0) }
  }

  /// Whether a camera of this name is there, and this user may open it.
  public static func isPresent(_ name: String?) -> Bool {
    do throws(CameraError) { _ = try CameraDevice(path(of: name)) } catch { return false }
    return true
  }

  /// Whether this user has a PipeWire server, which may offer cameras of its own.
  public static var mayHaveNodes: Bool {
    let folder =
      environmentValue("PIPEWIRE_RUNTIME_DIR") ?? environmentValue("XDG_RUNTIME_DIR")
      ?? "/run/user/\(currentUserID())"
    let name = environmentValue("PIPEWIRE_REMOTE") ?? "pipewire-0"
    let path = name.hasPrefix("/") ? name : "\(folder)/\(name)"
    let parent = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
    let status = try? Directory(path: parent.isEmpty ? "/" : String(parent))
      .status(of: String(path.dropFirst(parent.count + 1)))
    return status?.kind == .socket
  }

  /// The path of a camera.
  /// - Parameter name: a path; what `framebus cameras` calls it, or how that begins; nil for the
  ///   first camera that this user may open.
  public static func path(of name: String?) throws(CameraError) -> String {
    if let name, name.hasPrefix("/") { return name }
    var refusal: CameraError?
    var names: [(name: String, path: String)] = []
    for path in paths() {
      do throws(CameraError) {
        let device = try CameraDevice(path)
        if name == nil || device.name == name { return path }
        names.append((device.name, path))
      } catch {
        if case .notCamera = error { continue }
        refusal = refusal ?? error
      }
    }
    if let name {
      let wanted = name.lowercased()
      if let match = names.first(where: { $0.name.lowercased().hasPrefix(wanted) }) {
        return match.path
      }
    }
    if let refusal, names.isEmpty { throw refusal }
    guard let name else { throw .noCamera }
    throw .notFound(name, known: names.map { "camera:\($0.name.plain)" })
  }
}

/// A camera, for people to choose from.
public struct ListedCamera: Sendable {
  public let path: String
  /// What its driver calls it; of any content. Empty if it could not be opened.
  public let name: String
  public let bus: String
  public let driver: String
  let modes: [CameraMode]
  let controls: [CameraControl]
  /// Why it cannot be opened; nil if it can.
  public let problem: String?

  /// - Returns: nil for a device that is not a camera.
  package init?(_ path: String) {
    self.path = path
    do throws(CameraError) {
      let device = try CameraDevice(path)
      (name, bus, driver) = (device.name, device.bus, device.driver)
      (modes, controls) = (CameraMode.all(of: device), CameraControl.all(of: device))
      problem = nil
    } catch {
      if case .notCamera = error { return nil }
      (name, bus, driver, modes, controls) = ("", "", "", [], [])
      problem = "\(error)"
    }
  }
}
