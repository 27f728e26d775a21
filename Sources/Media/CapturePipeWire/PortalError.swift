#if Media
  import Capture
  import Platform
  import ScreenCast

  /// Why the portal's pictures could not be captured, and what to do.
  public enum PortalError: Error, CustomStringConvertible {
    /// The portal gives none; the text says what to do.
    case portal(String, mayPass: Bool)
    /// The user, or the desktop, ended the sharing.
    case closed
    case noLibrary(String)
    case pipeWire(String)
    /// The node has ended, or PipeWire has.
    case lost(String)
    case noFormat
    /// The producer offers nothing that can be read.
    case unreadable(String)
    case system(SystemError)
    case publishing(PublishingError)

    init(_ error: ScreenCastError) { self = .portal("\(error)", mayPass: error.mayPass) }

    /// Whether it may be otherwise in a while, such as while a compositor starts.
    var mayPass: Bool {
      switch self {
      case .portal(_, let mayPass): mayPass
      case .pipeWire, .lost, .noFormat: true
      case .closed, .noLibrary, .unreadable, .system, .publishing: false
      }
    }

    public var description: String {
      switch self {
      case .portal(let why, _): why
      case .closed:
        "the desktop ended the sharing, as its user asked; capture again to share again"
      case .noLibrary(let why): "PipeWire cannot be used: \(why); install libpipewire-0.3-0"
      case .pipeWire(let why):
        "cannot connect to PipeWire: \(why); check it with `systemctl --user status pipewire`"
      case .lost(let why):
        "the pictures ended: \(why); check that the compositor, PipeWire and WirePlumber run"
      case .noFormat:
        "nobody connected the capture with the desktop's pictures: no session manager runs, or no"
          + " format fits; check `systemctl --user status wireplumber`: without a login session it"
          + " needs the setting with-logind=false"
      case .unreadable(let why):
        "the desktop's pictures cannot be read: \(why); have the compositor offer shared memory, or"
          + " capture with `framebus capture 'gst:pipewiresrc path=NODE'`"
      case .system(let error): "\(error)"
      case .publishing(let error): "\(error)"
      }
    }
  }
#endif
