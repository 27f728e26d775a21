import CVideo4Linux
import FrameBus
import Platform

/// An open Video4Linux device that captures. Used by one thread at a time.
struct CameraDevice: ~Copyable {
  let path: String
  /// What its driver calls it, and where it is connected. Of any content.
  let name: String
  let bus: String
  let driver: String
  let descriptor: Descriptor
  private let isMultiplanar: Bool

  var port: video_port {
    video_port(device: descriptor.number, isOutput: false, isMultiplanar: isMultiplanar)
  }

  /// - Throws: ``CameraError/notCamera(path:)`` if the file is a device of another kind.
  init(_ path: String) throws(CameraError) {
    let opened = try Self.open(path)
    var device = video_device()
    let result = unsafe video_query(opened.number, &device)
    guard result == 0, device.captures, device.streams else { throw .notCamera(path: path) }
    self.path = path
    descriptor = opened
    isMultiplanar = device.capturesInPlanes
    // SAFETY: the text is copied at once.
    name = unsafe withUnsafeBytes(of: device.card) { unsafe Self.text($0) }
    bus = unsafe withUnsafeBytes(of: device.bus) { unsafe Self.text($0) }
    driver = unsafe withUnsafeBytes(of: device.driver) { unsafe Self.text($0) }
  }

  private static func open(_ path: String) throws(CameraError) -> Descriptor {
    do { return try Descriptor(device: path) } catch {
      throw error.isOtherDevice ? .notCamera(path: path) : .cannotOpen(error)
    }
  }

  /// The text before the first zero byte.
  static func text(_ bytes: some Sequence<UInt8>) -> String {
    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }

  /// Makes a call whose result is 0 or a negative errno.
  borrowing func call(
    _ name: String, _ body: (video_port) -> Int32
  ) throws(CameraError) {
    let result = body(port)
    if result == 0 { return }
    let error = SystemError(code: -result, operation: name, path: path)
    if error.isDeviceGone { throw .lost(path: path) }
    throw error.isBusy ? .busy(path: path) : .refused(error)
  }

  /// The results of an enumeration, of which a driver ends the list.
  borrowing func list<Element>(
    atMost limit: UInt32, _ body: (video_port, UInt32) -> Element?
  ) -> [Element] {
    var elements: [Element] = []
    for index in 0..<limit {
      guard let element = body(port, index) else { break }
      elements.append(element)
    }
    return elements
  }
}
