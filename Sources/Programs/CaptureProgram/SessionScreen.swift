#if Media
  import Capture
  import CapturePipeWire
  import CaptureWayland
  import CommandLineSupport

  /// The screen of a Wayland session. A compositor without a protocol for captures, such as those
  /// of GNOME and KDE, leaves them to its desktop's portal, whose dialog chooses what is captured.
  struct SessionScreen: FrameSource {
    private var wayland: WaylandSource
    private let settings: CaptureSettings

    init(_ settings: CaptureSettings) {
      wayland = WaylandSource(WaylandOptions(settings))
      self.settings = settings
    }

    mutating func run(in session: CaptureSession) throws {
      do throws(WaylandError) { try wayland.run(in: session) } catch {
        // A sandbox does not have the session bus: the host of a broadcast asks the portal.
        guard case .missingProtocol(let name, _) = error, !CaptureRole.isConfined else {
          throw error
        }
        session.noticed?(
          "the Wayland compositor lacks the protocol \(name): the desktop's portal is asked")
        try SourceKind.portal.check(settings)
        var portal = PortalSource(PortalOptions(.monitor, settings))
        try portal.run(in: session)
      }
    }
  }
#endif
