#if Media
  import Capture
  import Platform

  /// An X11 display, for a user who chooses what to capture of it.
  ///
  /// Windows choose their titles and the names of their programs: show these, and base no decision
  /// on them.
  public struct X11Display: Sendable {
    let connection: XConnection

    /// - Parameters:
    ///   - name: nil for the display that `DISPLAY` names.
    ///   - stop: ends the wait for a server that does not answer.
    public init(_ name: String? = nil, stop: StopSignal? = nil) throws(ScreenError) {
      let display = name ?? environmentValue("DISPLAY") ?? ""
      // On a thread of its own, as libxcb waits for a server's first answer without end.
      let connecting = Connecting<XConnection>()
      let result: Result<XConnection, ScreenError>?
      do {
        try startThread(named: "x11 connect") {
          connecting.finish(
            Result { () throws(ScreenError) in try XConnection(display: name, until: .never) })
        }
        let stop = if let stop { stop } else { try StopSignal() }
        result = connecting.wait(until: .after(Self.answerLimit), stop: stop)
      } catch { throw .system(error) }
      guard let result else { throw .silent(display: display) }
      connection = try result.get()
    }

    private static let answerLimit = Duration.seconds(10)

    /// The display's name.
    public var name: String { connection.display }

    /// Whether it belongs to a Wayland session. It then has the windows of X11 programs alone.
    public func belongsToWayland() throws(ScreenError) -> Bool {
      try RootScreen.isXwayland(connection)
    }

    /// The windows that can be captured, the active one first, then the highest.
    public func windows() throws(ScreenError) -> [ListedWindow] {
      try WindowList(connection).all()
    }

    /// The monitors of the display.
    public func screens() throws(ScreenError) -> [ListedScreen] {
      try ScreenList(connection).all()
    }

    /// The window that a user means. A text is looked for among the titles and programs, whatever
    /// its case, and if none is equal to it, within the titles.
    /// - Parameters:
    ///   - stop: ends the wait for the server, or for a click, and the connection with it.
    ///   - onPick: called when the user can click, if the user is to click on a window.
    public func window(
      _ selector: WindowSelector, stop: StopSignal? = nil, onPick: () -> Void = {}
    ) throws(WindowChoiceError) -> ListedWindow {
      guard let stop else { return try choose(selector, onPick) }
      let result = stop.observed(by: { connection.cut() }) {
        Result { () throws(WindowChoiceError) in try choose(selector, onPick) }
      }
      return try result.get()
    }

    private func choose(
      _ selector: WindowSelector, _ onPick: () -> Void
    ) throws(WindowChoiceError) -> ListedWindow {
      switch selector {
      case .id(let id): return try window(XWindow(id))
      case .named(let text): return try window(named: text)
      case .pick: return try pick(onPick)
      }
    }

    private func window(_ window: XWindow) throws(WindowChoiceError) -> ListedWindow {
      do {
        if let found = try WindowList(connection).window(window) { return found }
      } catch { throw .screen(error) }
      throw .screen(.noSuchWindow(window.id, display: name))
    }

    private func window(named text: String) throws(WindowChoiceError) -> ListedWindow {
      let all: [ListedWindow]
      do { all = try windows() } catch { throw .screen(error) }
      let sought = text.lowercased()
      let equal = all.filter { ([$0.title] + $0.programs).contains { $0.lowercased() == sought } }
      let found = equal.isEmpty ? all.filter { $0.title.lowercased().contains(sought) } : equal
      guard let first = found.first else { throw .noneNamed(text, display: name) }
      if found.count > 1 { throw .ambiguous(text, found) }
      return first
    }

    private func pick(_ onPick: () -> Void) throws(WindowChoiceError) -> ListedWindow {
      let pick = try WindowPick(connection)
      onPick()
      guard let top = try pick.wait() else { throw .nothingThere }
      let client: XWindow
      do { client = try WindowList(connection).client(in: top) } catch { throw .screen(error) }
      return try window(client)
    }
  }

  /// Why there is no window to capture.
  public enum WindowChoiceError: Error, CustomStringConvertible {
    case noneNamed(String, display: String)
    case ambiguous(String, [ListedWindow])
    /// Another program has the pointer or the keyboard.
    case pointerTaken(display: String)
    case cancelled
    /// The user clicked beside all windows.
    case nothingThere
    case screen(ScreenError)

    public var description: String {
      switch self {
      case .noneNamed(let text, let display):
        "no window of the X display \(display) has the title or program “\(text)”: "
          + "`framebus windows` lists those that there are"
      case .ambiguous(let text, let windows):
        "\(windows.count) windows have the title or program “\(text)”: name one of them by its ID, "
          + windows.prefix(Self.maximumListed)
          .map { "window:0x\(String($0.id, radix: 16)) (\($0.shortTitle))" }
          .joined(separator: ", ") + (windows.count > Self.maximumListed ? " …" : "")
      case .pointerTaken(let display):
        "another program on the X display \(display) keeps the pointer or the keyboard for itself: "
          + "close its menu or dialog, or name a window that `framebus windows` lists"
      case .cancelled:
        "no window was chosen: Escape or a right click cancelled the choice; click on a window, or "
          + "name one that `framebus windows` lists"
      case .nothingThere:
        "there is no window where you clicked: click on a window, or capture the whole `screen`"
      case .screen(let error): "\(error)"
      }
    }

    private static let maximumListed = 8
  }

  extension ListedWindow {
    /// Its title, or else its program, cut to the width of a column.
    public var shortTitle: String {
      let text = title.isEmpty ? programs.last ?? "" : title
      return text.count > 48 ? text.prefix(47) + "…" : text
    }
  }
#endif
