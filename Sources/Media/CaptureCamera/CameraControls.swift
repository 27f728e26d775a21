import CVideo4Linux
import Platform

/// A control of a camera, such as its exposure time.
public struct CameraControl: Hashable, Sendable {
  /// Its name in lower case, words joined by `_`, as v4l2-ctl(1) shows it: `auto_exposure`.
  public let name: String
  let id: UInt32
  public let range: ClosedRange<Int>
  public let usual: Int
  public let value: Int?
  /// Whether another control makes the camera choose this one's value.
  public let isInactive: Bool

  private static let maximumCount = 256

  /// The controls that can be set.
  static func all(of device: borrowing CameraDevice) -> [CameraControl] {
    var controls: [CameraControl] = []
    var id: UInt32 = 0
    for _ in 0..<maximumCount {
      var control = video_control()
      guard unsafe video_control_after(device.port, id, &control) == 0, control.id > id
      else { break }
      id = control.id
      guard !control.isDisabled, !control.isReadOnly, control.kind != VIDEO_OTHER,
        control.minimum <= control.maximum
      else { continue }
      var value: Int32 = 0
      let isKnown = unsafe video_get_control(device.port, id, &value) == 0
      // SAFETY: the text is copied at once.
      let name = unsafe withUnsafeBytes(of: control.name) { unsafe CameraDevice.text($0) }
      controls.append(
        CameraControl(
          name: Self.key(name), id: id,
          range: Int(control.minimum)...Int(control.maximum), usual: Int(control.usual),
          value: isKnown ? Int(value) : nil, isInactive: control.isInactive))
    }
    return controls
  }

  private static func key(_ name: String) -> String {
    name.lowercased().split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
      .joined(separator: "_")
  }

  /// Sets controls, in this order.
  /// - Parameter texts: such as `exposure_time_absolute=200`. A name may be cut off where one
  ///   control alone begins so.
  static func set(
    _ texts: [String], of device: borrowing CameraDevice
  ) throws(CameraError) {
    if texts.isEmpty { return }
    let controls = all(of: device)
    for text in texts {
      let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
      let name = parts.first ?? ""
      let matches =
        controls.filter { $0.name == name }.isEmpty
        ? controls.filter { $0.name.hasPrefix(name) } : controls.filter { $0.name == name }
      guard let control = matches.first, matches.count == 1 else {
        throw .unknownControl(
          name, known: (matches.isEmpty ? controls : matches).map(\.name))
      }
      let words = ["true": 1, "on": 1, "false": 0, "off": 0]
      guard parts.count == 2, let value = words[parts[1]] ?? Int(parts[1]),
        control.range.contains(value), let value = Int32(exactly: value)
      else {
        throw .badControl(
          name, use: "use \(control.range.lowerBound) to \(control.range.upperBound)")
      }
      do throws(CameraError) {
        try device.call("VIDIOC_S_CTRL") { video_set_control($0, control.id, value) }
      } catch {
        guard case .refused(let why) = error else { throw error }
        throw .badControl(name, use: "the driver refuses \(value): \(why.reason)")
      }
    }
  }
}
