#if Media
  import Capture
  import Platform

  /// Why a compositor's output could not be captured, and what to do.
  public enum WaylandError: Error, CustomStringConvertible {
    case noDisplayNamed
    case unreachable(path: String, SystemError)
    case silent(path: String)
    case gone(path: String, why: String)
    case missingProtocol(String, path: String)
    case noOutput(path: String)
    case noSuchOutput(String, known: [String])
    case noSuchWindow(String)
    /// While it was captured.
    case windowClosed
    /// - Parameter output: nil for a window.
    case unavailable(output: String?)
    case refusedMemory(path: String)
    case regionOutside(region: String, picture: String)
    case turnedRegion(String)
    case unsupportedFormat(String)
    case badLayout(String)
    case poolTooLarge(byteCount: Int)
    /// Windows must not be seen, and no compositor says where they are.
    case noProtection
    case system(SystemError)
    case publishing(PublishingError)

    public var description: String {
      switch self {
      case .noDisplayNamed:
        "there is no Wayland compositor to capture: WAYLAND_DISPLAY is not set, or it is a name "
          + "and XDG_RUNTIME_DIR is not set; run this in a Wayland session, or set WAYLAND_DISPLAY "
          + "to the path of the compositor's socket"
      case .unreachable(let path, let error):
        "cannot connect to the Wayland compositor at \(path): \(error.reason); check that it runs, "
          + "and that \(userText(currentUserID())) may use its socket"
      case .silent(let path):
        "the Wayland compositor at \(path) does not answer: it is stopped, or it is not a "
          + "compositor; try `wayland-info`"
      case .gone(let path, let why):
        "the Wayland compositor at \(path) ended the connection"
          + (why.isEmpty ? "" : ": \(why)") + "; start it again"
      case .missingProtocol(let name, let path):
        "the Wayland compositor at \(path) lacks the protocol \(name), which sway and other "
          + "compositors of wlroots have (for single windows, sway 1.12 or newer); for GNOME and "
          + "KDE, use the desktop's portal: `framebus capture portal`"
      case .noOutput(let path):
        "the Wayland compositor at \(path) has no output: connect a monitor, or have it create one "
          + "(`swaymsg create_output`)"
      case .noSuchOutput(let name, let known):
        "the Wayland compositor has no output “\(name)”; it has "
          + (known.isEmpty ? "none" : known.joined(separator: ", ")) + ": see `framebus screens`"
      case .noSuchWindow(let id):
        "the Wayland compositor has no window “\(id.plain)”: `framebus windows` lists them"
      case .windowClosed: "the window was closed; `framebus windows` lists those that are there"
      case .unavailable(nil):
        "the Wayland compositor cannot capture the window now: it may be hidden; show it"
      case .unavailable(let name?):
        "the Wayland compositor cannot capture the output \(name) now: it may be off; try "
          + "`swaymsg output \(name) dpms on`"
      case .refusedMemory(let path):
        "the Wayland compositor at \(path) did not map this process's memory: it may run in "
          + "another container; capture beside it"
      case .regionOutside(let region, let picture):
        "the region \(region) is outside the picture of \(picture): choose a --size inside it"
      case .turnedRegion(let name):
        "the output \(name) is turned by 90 degrees, and compositors cut another region of it: "
          + "capture all of it, without --size"
      case .unsupportedFormat(let format):
        "the Wayland compositor offers its pixels as \(format) alone, which is not supported: set "
          + "the output to 8 or 10 bits a colour"
      case .badLayout(let layout):
        "the Wayland compositor offers a frame of \(layout), which is malformed: it is broken"
      case .poolTooLarge(let byteCount):
        "the pool of \(byteCount >> 20) MiB is larger than the 2 GiB that a compositor can map: "
          + "capture a smaller region with --size"
      case .noProtection:
        "windows must not be seen, and a Wayland compositor does not tell where they are: name the "
          + "source wayland, in which every window can be seen, or keep them off the screen"
      case .system(let error): "\(error)"
      case .publishing(let error): "\(error)"
      }
    }

    /// Whether another try may succeed without a change of options.
    var isPassing: Bool {
      switch self {
      case .unreachable, .silent, .gone, .missingProtocol, .noOutput, .noSuchOutput, .unavailable,
        .refusedMemory:
        true
      // The compositor that comes next may be another.
      case .unsupportedFormat, .badLayout, .regionOutside, .turnedRegion: true
      case .noDisplayNamed, .noSuchWindow, .windowClosed, .poolTooLarge, .noProtection, .system,
        .publishing:
        false
      }
    }
  }

  extension WaylandError: SystemFailure {
    package init(_ error: SystemError) { self = .system(error) }
  }
#endif
