import AppGroup
import ArgumentParser
import CommandLineSupport
import FrameBus
import GStreamerLog
import LivePage
import Platform
import Upload
import UploadGStreamer
import WHIP

/// The program `framebus-view`: a live page of streams, in a process of its own.
///
/// It connects the modules, and refuses to do their work: LivePage serves the page, checks access
/// and passes offers on to other servers; UploadGStreamer encodes and sends; Upload reads the
/// streams.
@main struct ViewProgram: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "framebus-view", abstract: "Serve streams live to a web browser.")

  @OptionGroup var view: ViewOptions
  @OptionGroup var global: GlobalOptions

  static func main() { runProgram(ViewProgram.self) }

  func run() throws {
    #if Media
      let streams = try view.streams()
      let address = try address()
      try checkCode(address)
      let options = try viewerOptions(soundIsNamed: streams.count > 1)
      try checkRemotes()
      // Before GStreamer starts threads, because these must not receive the signals.
      let signals = try SignalWatcher()
      let group = try global.openGroup(creatingLocal: true)
      ProductLog.begin(
        "framebus-view", in: group, as: .extension, global,
        options: view.logged)
      let remotes = try remotes()
      let shows = streams.isEmpty ? nil : try liveShows(streams, options, in: group, signals)
      let captured = global.capturedAnnouncer(in: group, preferring: .extension)
      defer { captured?.end() }
      let page = try LivePage(
        at: address, title: streams.map(\.text).joined(separator: ", "),
        hasSound: options.sendsSound, service: shows?.service,
        figures: { shows?.figures ?? "{}" }, choices: view.also.isEmpty ? nil : shows,
        remotes: remotes, access: pageAccess, token: try pageToken())
      try announce(page, at: address, streams)
      if let shows {
        try shows.first.run(until: signals.stop)
      } else {
        _ = try waitUntilReadable([signals.stop.descriptorNumber], until: .never)
      }
      page.stop()
      shows?.end()
      global.terminal.endProgress()
      if global.json {
        try global.terminal.printJSON(shows?.total ?? ViewSummary(), onOneLine: true)
      }
      if signals.isInterrupted { throw Interrupted() }
    #else
      throw UsageError("this build lacks the page: it was built without the package trait Media")
    #endif
  }
}

#if Media
  extension ViewProgram {
    private func address() throws(UsageError) -> ListenAddress {
      guard let text = view.listen else { return .loopback }
      if text == ViewOptions.passedSocket {
        guard let socket = takePassedSocket(), let address = ListenAddress(listening: socket)
        else {
          throw UsageError(
            "--listen \(text): systemd has passed no TCP socket, or several; start the socket unit,"
              + " such as framebus-view.socket, with one ListenStream")
        }
        return address
      }
      guard let address = ListenAddress(text) else {
        throw UsageError("--listen \(text): use ADDRESS[:PORT], such as 127.0.0.1:8080, or PORT")
      }
      return address
    }

    private func viewerOptions(soundIsNamed: Bool) throws(UsageError) -> Viewers.Options {
      var options = Viewers.Options()
      do throws(DestinationError) {
        options.encoder = try EncoderSettings(encoder: view.encoder, bitrate: view.bitrate)
      } catch {
        throw UsageError("\(error)")
      }
      options.sendsSound = soundIsNamed
      options.maximumCount = view.viewers
      return options
    }

    /// Prepares the encoder and the viewers of the first stream.
    private func liveShows(
      _ streams: [StreamName], _ options: Viewers.Options, in group: AppGroup,
      _ signals: SignalWatcher
    ) throws -> LiveShows {
      FailedEncoders.shared.report { [terminal = global.terminal] failure in
        terminal.warn("\(failure)")
        ProductLog.append(.warning, "\(failure)")
      }
      GStreamerLog.begin(minimumLevel: ProductLog.minimumLevel) { line in
        ProductLog.append(
          line.level, "\(line.category): \(line.text)", label: "gstreamer", source: line.source,
          line: line.sourceLine)
      }
      try ProductLog.interruptible(signals) { () throws(DestinationError) in
        try updatePluginRegistry()
      }
      let first = try LiveShow(
        streams, to: try viewers(options), options.encoder, in: group, global.terminal)
      try first.prepare()
      let sound = Array(streams.dropFirst())
      let terminal = global.terminal
      return LiveShows(
        first, StreamList(view.also, beside: streams, in: group), maximumViewers: view.viewers
      ) { stream throws(ViewerRefusal) in
        do {
          let show = try LiveShow(
            [stream] + sound, isChosen: true, to: try Viewers(options), options.encoder,
            in: group, terminal)
          try show.start()
          return show
        } catch {
          throw ViewerRefusal.engineFailed("\(error)")
        }
      }
    }

    private func viewers(_ options: Viewers.Options) throws -> Viewers {
      do throws(DestinationError) {
        return try Viewers(options)
      } catch {
        if error.isMisuse { throw UsageError("\(error)") }
        throw error
      }
    }

    private var pageAccess: PageAccess {
      var access = PageAccess()
      access.publicAddress = view.publicAddress
      access.embedders = view.embedIn.compactMap { WebAddress($0) }
      return access
    }

    /// A usage error if `--qr` has no address to draw.
    private func checkCode(_ address: ListenAddress) throws(UsageError) {
      if view.qr, address.isLoopback, view.publicAddress == nil {
        throw UsageError(
          "--qr: other machines cannot reach \(address.host); add --listen with an address of this "
            + "machine, such as 0.0.0.0, or --public-url")
      }
    }

    /// Draws the address for other machines. Only on request: the code holds the token, and a
    /// camera, or a capture of this screen, can read it.
    private func drawCode(of page: LivePage) {
      guard view.qr else { return }
      guard let url = page.urlForOthers, let code = QRCode(url) else {
        return global.terminal.warn(
          "--qr: this machine has no address that others reach; name one with --listen")
      }
      global.terminal.draw(code.lines)
      global.terminal.report(url)
    }

    /// Prints the address as the first line, for a user or a program.
    private func announce(
      _ page: LivePage, at address: ListenAddress, _ streams: [StreamName]
    ) throws {
      if !address.isLoopback {
        global.terminal.warn(
          "the page is not encrypted: anyone who listens on this network can read its address")
      }
      if global.json {
        try global.terminal.printJSON(
          ViewAnnouncement(
            url: page.url, streams: streams.map(\.text), remotes: page.remoteTitles),
          onOneLine: true)
      } else {
        try global.terminal.print(page.url)
      }
      drawCode(of: page)
    }
  }

  /// The address of the page, in JSON.
  private struct ViewAnnouncement: Encodable {
    let url: String
    let streams: [String]
    /// Addresses of other servers, without keys.
    let remotes: [String]
  }
#endif
