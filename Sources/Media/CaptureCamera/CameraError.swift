import Capture
import Platform

/// Why a camera could not be captured, and what to do.
public enum CameraError: Error, CustomStringConvertible {
  case noCamera
  case notFound(String, known: [String])
  case cannotOpen(SystemError)
  case notCamera(path: String)
  case busy(path: String)
  /// The device is gone, or does not answer.
  case lost(path: String)
  case noMode(path: String, asked: String, known: [String])
  /// Its pictures need a decoder now, or no longer do.
  case otherPictures(path: String)
  case noBuffers(path: String)
  case unknownControl(String, known: [String])
  case badControl(String, use: String)
  case malformed(path: String, what: String)
  case refused(SystemError)
  case publishing(PublishingError)

  public var description: String {
    switch self {
    case .noCamera:
      "there is no camera: no /dev/video* delivers pictures; connect one, or load its driver"
    case .notFound(let name, let known):
      "there is no camera “\(name.plain)”: `framebus cameras` lists them"
        + (known.isEmpty ? "" : ", such as \(known.prefix(4).joined(separator: ", "))")
    case .cannotOpen(let error):
      error.isAccessRefusal
        ? "\(error): cameras belong to the group video; `sudo usermod -aG video USER`, then log in "
          + "again"
        : error.explained
    case .notCamera(let path):
      "\(path.plain) is not a camera that delivers pictures: `framebus cameras` lists them"
    case .busy(let path):
      "\(path.plain) is in use: another program captures it; `fuser -v \(path.plain)` names it"
    case .lost(let path): "\(path.plain) is gone or does not answer: connect it again"
    case .noMode(let path, let asked, let known):
      "\(path.plain) has no \(asked): it has \(known.joined(separator: ", ")); `framebus cameras` "
        + "lists them"
    case .otherPictures(let path):
      "\(path.plain) offers other formats than before: start the capture again"
    case .noBuffers(let path):
      "\(path.plain) can write neither into the slots (USERPTR) nor into memory that this process "
        + "can read (MMAP), and DMA-BUF is not supported: try 'gst:v4l2src device=\(path.plain)'"
    case .unknownControl(let name, let known):
      "--control \(name.plain): the camera has no such control; it has "
        + (known.isEmpty ? "none" : known.joined(separator: ", "))
    case .badControl(let name, let use): "--control \(name.plain): \(use)"
    case .malformed(let path, let what):
      "the driver of \(path.plain) says what cannot be (\(what)): try another --format or --size"
    case .refused(let error): "\(error)"
    case .publishing(let error): "\(error)"
    }
  }

  /// Whether another attempt may succeed, once the camera is back or free.
  public var isTemporary: Bool {
    switch self {
    case .lost, .busy, .noCamera, .notFound, .notCamera: true
    case .cannotOpen(let error), .refused(let error): error.isDeviceGone || error.isAccessRefusal
    default: false
    }
  }

  /// Whether no device of this machine has that name, so that it may be another kind of camera.
  public var isUnknownDevice: Bool {
    switch self {
    case .noCamera, .notFound: true
    default: false
    }
  }
}
