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
    paths().compactMap { path in
      do throws(CameraError) {
        let device = try CameraDevice(path)
        return ListedCamera(
          path: path, name: device.name, bus: device.bus, driver: device.driver,
          modes: CameraMode.all(of: device), controls: CameraControl.all(of: device), problem: nil)
      } catch {
        if case .notCamera = error { return nil }
        return ListedCamera(
          path: path, name: "", bus: "", driver: "", modes: [], controls: [], problem: "\(error)")
      }
    }
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
  public let controls: [CameraControl]
  /// Why it cannot be opened; nil if it can.
  public let problem: String?

  /// A mode, as `--format`, `--size` and `--fps` take it.
  public struct Mode: Hashable, Sendable {
    public let format: String
    public let width: Int
    public let height: Int
    public let maximumWidth: Int
    public let maximumHeight: Int
    /// Frames per second: each rate, or the bounds of a range.
    public let rates: [Double]
    public let isRateRange: Bool
    /// As one text.
    public let text: String
  }

  /// What can be captured.
  public var offers: [Mode] {
    modes.map {
      Mode(
        format: $0.encoding.name, width: $0.widths.least, height: $0.heights.least,
        maximumWidth: $0.widths.most, maximumHeight: $0.heights.most,
        rates: $0.rates.map(\.perSecond), isRateRange: $0.isRateRange, text: $0.text)
    }
  }
}
