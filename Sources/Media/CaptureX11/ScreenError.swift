#if Media
  import Capture
  import Platform

  /// Why a screen could not be captured, and what to do.
  public enum ScreenError: Error, CustomStringConvertible {
    case noDisplayNamed
    case unreachable(display: String)
    case silent(display: String)
    case badDisplayName(String)
    case noSuchScreen(display: String)
    case wayland(display: String)
    case missingExtension(String, display: String)
    case cannotShareMemory(display: String, code: UInt8)
    case unsupportedDepth(Int, display: String)
    case unsupportedPixels(display: String)
    case noSuchWindow(UInt32, display: String)
    case windowWithoutPicture(UInt32, display: String)
    case regionOutside(region: String, picture: String)
    case poolTooLarge(byteCount: Int)
    case serverGone(display: String)
    case refused(request: String, code: UInt8)
    case malformed(request: String)
    case tooManyWindows(display: String)
    case system(SystemError)
    case publishing(PublishingError)
    /// The group's setting does not say which windows must not be seen.
    case protection(ProtectionSettingError)

    private static var userName: String {
      UserAccount.find(currentUserID())?.name ?? "#\(currentUserID())"
    }

    public var description: String {
      switch self {
      case .noDisplayNamed:
        "there is no display to capture: DISPLAY is not set; "
          + "name one, as in `framebus capture screen:0`, or start one with `Xvfb :99`"
      case .unreachable(let display):
        "cannot connect to the X display \(display): no server answers there, or it refuses "
          + "\(userText(currentUserID())); set XAUTHORITY to a file with its cookie that this user "
          + "can read, or let the display's user run `xhost +SI:localuser:\(Self.userName)`"
      case .silent(let display):
        "the X server of \(display) does not answer: it is stopped, another program has grabbed "
          + "it, or it is not an X server; try `xdpyinfo -display \(display)`"
      case .badDisplayName(let display):
        "“\(display)” is not a display name: use screen:0, or screen:HOST:0 for a remote one"
      case .noSuchScreen(let display):
        "the X display \(display) has no screen with this number: omit the part after the dot"
      case .wayland(let display):
        "the X server of \(display) belongs to a Wayland session, and a grab of it would be black; "
          + "capture the compositor's output (`framebus capture wayland`) or, of GNOME and KDE, "
          + "what the desktop's portal grants (`framebus capture portal`), in neither of which a "
          + "window can be protected, or capture anyway with --force"
      case .missingExtension(let name, let display):
        "the X server of \(display) has no \(name) extension (version 1.2 for MIT-SHM); a remote "
          + "display cannot share memory: capture on that machine, or use --backend socket"
      case .cannotShareMemory(let display, let code):
        "the X server of \(display) cannot map shared memory (X error \(code)): it runs on another "
          + "machine or in another container; use --backend socket"
      case .unsupportedDepth(let depth, let display):
        "the screen \(display) has \(depth) bits per pixel; 24 are needed: start the server with "
          + "depth 24, as in `Xvfb :99 -screen 0 1280x720x24`"
      case .unsupportedPixels(let display):
        "the screen \(display) stores pixels in an unusual order; only 32-bit little-endian RGB "
          + "can be captured: start the server with depth 24"
      case .noSuchWindow(let id, let display):
        "the X display \(display) has no window 0x\(String(id, radix: 16)): run "
          + "`xwininfo -display \(display)` and click on a window to see its ID"
      case .windowWithoutPicture(let id, let display):
        "the window 0x\(String(id, radix: 16)) of the X display \(display) only takes input and "
          + "shows nothing: run `xwininfo -display \(display)` and click on a window to see its ID"
      case .regionOutside(let region, let picture):
        "the region \(region) is outside the picture of \(picture): choose a --size inside it"
      case .poolTooLarge(let byteCount):
        "the pool of \(byteCount >> 20) MiB is larger than the 4 GiB that an X server can address: "
          + "capture a smaller region with --size"
      case .serverGone(let display):
        "the X server of \(display) went away during the capture: start it, then capture again"
      case .refused(let request, let code):
        "the X server refused \(request) (X error \(code)): "
          + "another program may have changed the screen; start again"
      case .malformed(let request):
        "the X server's answer to \(request) is malformed: it is broken or not an X server; check "
          + "the display name"
      case .tooManyWindows(let display):
        "the X display \(display) has too many windows, or they are nested too deeply, to find the "
          + "protected ones: close the program that creates them, then capture again"
      case .system(let error): "\(error)"
      case .publishing(let error): "\(error)"
      case .protection(let error): "\(error)"
      }
    }
  }

  extension ScreenError: SystemFailure {
    package init(_ error: SystemError) { self = .system(error) }
  }
#endif
