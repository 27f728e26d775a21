#if Media
  import CXCB
  import FrameBus
  import Platform

  /// A monitor, or a screen without one.
  public struct ListedScreen: Hashable, Sendable {
    /// The source that captures its screen: `screen:0`.
    public let source: String
    /// The monitor's name, such as `HDMI-1`; empty if it has none.
    public let name: String
    /// What it shows of the screen.
    public let area: PixelRect
    /// Whether the screen is larger than it.
    public let isPart: Bool
    /// Pictures per second; nil if the server does not say.
    public let refreshHz: Double?
    public let isPrimary: Bool
  }

  /// Finds the monitors of a display (RANDR extension, version 1.5).
  struct ScreenList {
    private let connection: XConnection

    init(_ connection: XConnection) { self.connection = connection }

    func all() throws(ScreenError) -> [ListedScreen] {
      let hasMonitors = try hasMonitors()
      var screens: [ListedScreen] = []
      for (index, screen) in connection.setup.screens.enumerated() {
        let root = XWindow(screen.root)
        guard let size = try root.geometry(connection) else { continue }
        let whole = PixelRect(x: 0, y: 0, width: Int(size.width), height: Int(size.height))
        let monitors = hasMonitors ? try monitors(of: root) : []
        let rates = monitors.isEmpty ? [:] : try refreshRates(of: root)
        let source = source(of: index)
        screens += monitors.map { monitor in
          ListedScreen(
            source: source, name: monitor.name, area: monitor.area, isPart: monitor.area != whole,
            refreshHz: rates[monitor.area], isPrimary: monitor.isPrimary)
        }
        if monitors.isEmpty {
          screens.append(
            ListedScreen(
              source: source, name: "", area: whole, isPart: false, refreshHz: nil,
              isPrimary: index == 0))
        }
      }
      return screens
    }

    /// As `framebus capture` takes it: `screen:0` for the display `:0`.
    private func source(of index: Int) -> String {
      var display = connection.display
      if let colon = display.lastIndex(of: ":"), let dot = display[colon...].firstIndex(of: ".") {
        display = String(display[..<dot])
      }
      if connection.setup.screens.count > 1 { display += ".\(index)" }
      return "screen:" + (display.hasPrefix(":") ? String(display.dropFirst()) : display)
    }

    private func hasMonitors() throws(ScreenError) -> Bool {
      guard try connection.firstEvent(of: "RANDR") != nil else { return false }
      let cookie = unsafe xcb_randr_query_version(connection.pointer, 1, 5)
      let reply: XReply<xcb_randr_query_version_reply_t> = try connection.reply(
        to: "RANDR QueryVersion", cookie.sequence)
      return (reply.value.major_version, reply.value.minor_version) >= (1, 5)
    }

    private struct Monitor {
      let name: String
      let area: PixelRect
      let isPrimary: Bool
    }

    private func monitors(of root: XWindow) throws(ScreenError) -> [Monitor] {
      let request = "RANDR GetMonitors"
      let cookie = unsafe xcb_randr_get_monitors(connection.pointer, root.id, 1)
      let reply: XReply<xcb_randr_get_monitors_reply_t> = try connection.reply(
        to: request, cookie.sequence)
      // Parsed here, because libxcb's iterators believe every count.
      var parser = ByteParser(reply.rest)
      var monitors: [Monitor] = []
      for _ in 0..<min(reply.value.nMonitors, 64) {
        guard let (atom, monitor) = try? Self.monitor(&parser) else {
          throw .malformed(request: request)
        }
        monitors.append(
          Monitor(name: try name(of: atom), area: monitor.area, isPrimary: monitor.isPrimary))
      }
      return monitors
    }

    private static func monitor(
      _ parser: inout ByteParser
    ) throws(FormatError) -> (name: xcb_atom_t, Monitor) {
      let name = try parser.integer(UInt32.self)
      let isPrimary = try parser.integer(UInt8.self) != 0
      try parser.skip(1)
      let outputCount = try parser.integer(UInt16.self)
      let x = try parser.integer(Int16.self)
      let y = try parser.integer(Int16.self)
      let width = try parser.integer(UInt16.self)
      let height = try parser.integer(UInt16.self)
      try parser.skip(8 + 4 * Int(outputCount))
      let area = PixelRect(x: Int(x), y: Int(y), width: Int(width), height: Int(height))
      return (name, Monitor(name: "", area: area, isPrimary: isPrimary))
    }

    private func name(of atom: xcb_atom_t) throws(ScreenError) -> String {
      let cookie = unsafe xcb_get_atom_name(connection.pointer, atom)
      let reply: XReply<xcb_get_atom_name_reply_t> = try connection.reply(
        to: "GetAtomName", cookie.sequence)
      return WindowList.text(Array(reply.rest.prefix(Int(reply.value.name_len)))) ?? ""
    }

    /// The refresh rate of what each controller (CRTC) shows.
    private func refreshRates(of root: XWindow) throws(ScreenError) -> [PixelRect: Double] {
      let request = "RANDR GetScreenResources"
      let cookie = unsafe xcb_randr_get_screen_resources_current(connection.pointer, root.id)
      let reply: XReply<xcb_randr_get_screen_resources_current_reply_t> = try connection.reply(
        to: request, cookie.sequence)
      guard
        let (controllers, modes) = try? Self.resources(
          reply.rest, controllers: Int(reply.value.num_crtcs),
          outputs: Int(reply.value.num_outputs), modes: Int(reply.value.num_modes))
      else { throw .malformed(request: request) }
      var rates: [PixelRect: Double] = [:]
      for controller in controllers.prefix(64) {
        let cookie = unsafe xcb_randr_get_crtc_info(
          connection.pointer, controller, reply.value.config_timestamp)
        let info: XReply<xcb_randr_get_crtc_info_reply_t> = try connection.reply(
          to: "RANDR GetCrtcInfo", cookie.sequence)
        let area = PixelRect(
          x: Int(info.value.x), y: Int(info.value.y), width: Int(info.value.width),
          height: Int(info.value.height))
        rates[area] = modes[info.value.mode]
      }
      return rates
    }

    /// The controllers, and the refresh rate of each mode that has one.
    private static func resources(
      _ bytes: [UInt8], controllers: Int, outputs: Int, modes: Int
    ) throws(FormatError) -> (controllers: [UInt32], modes: [UInt32: Double]) {
      var parser = ByteParser(bytes)
      var found: [UInt32] = []
      for _ in 0..<controllers { found.append(try parser.integer(UInt32.self)) }
      try parser.skip(4 * outputs)
      var rates: [UInt32: Double] = [:]
      for _ in 0..<modes {
        let mode = try parser.integer(UInt32.self)
        try parser.skip(4)
        let clock = try parser.integer(UInt32.self)
        try parser.skip(4)
        let columns = try parser.integer(UInt16.self)
        try parser.skip(6)
        let rows = try parser.integer(UInt16.self)
        try parser.skip(6)
        guard clock > 0, columns > 0, rows > 0 else { continue }
        rates[mode] = Double(clock) / (Double(columns) * Double(rows))
      }
      return (found, rates)
    }
  }
#endif
