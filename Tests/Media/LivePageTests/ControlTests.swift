#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// What a viewer does with the page, in both browsers.
  @Suite(.serialized, .enabled(if: getuid() == 0, "only root can make networks"))
  struct ControlTests {
    private let root: TemporaryRoot

    init() throws { root = try TemporaryRoot() }

    /// What a screen reader says of the focused control: its name and state.
    private static let focused = """
      (({ ariaLabel, innerText, ariaPressed }) =>
        [ariaLabel ?? innerText.split(":")[0], ariaPressed].join())(document.activeElement)
      """
    /// In Firefox, which analyses no sound before a user has pressed something.
    private static let isSoundReceived = """
      cards[0].peer.getStats().then((all) =>
        [...all.values()].some((one) => one.kind === "audio" && one.audioLevel > 0.1))
      """
    private static let names = "[...document.querySelector('select').options].map((o) => o.text)"

    @Test(arguments: ["chromium", "firefox"])
    func viewerUsesThePage(browser: String) throws {
      let neighbour = try OwnNetwork()
      let network = try OwnNetwork(cabledTo: neighbour)
      let view = try ViewProgram(
        root, ["screen", "audio.app", "--also=window.*", "--encoder=vp8"], in: network)
      let others = [
        try root.capture(), try root.framebus("capture", "tone:440"),
        try root.framebus("capture", "test", "--size=64x48", "--stream=secret"),
      ]
      let page = try BrowserPage(view.url, "browser=\(browser)", usedIn: root, in: network)
      try page.waitForMovingPictures()
      try checkControls(page, pressing: browser == "chromium")
      try checkChoice(page, of: view)
      // The page says what is wrong: pictures that stand still, and a server that has ended.
      view.program.process.send(signal: SIGSTOP)
      try page.wait(for: "a pause") { $0.contains { $0.state == "No new picture" } }
      view.program.process.send(signal: SIGCONT)
      try page.waitForMovingPictures()
      try view.program.end(with: SIGTERM)
      try page.wait(for: "an end") { $0.contains { $0.state == "No answer from framebus view" } }
      try page.program.end(with: SIGTERM)
      for other in others { try other.end(with: SIGTERM) }
    }

    /// Firefox allows both only after a user's own click on a window that has the focus.
    @Test func firefoxShowsPicturesInsetAndOnTheFullScreen() throws {
      let neighbour = try OwnNetwork()
      let network = try OwnNetwork(cabledTo: neighbour)
      let screen = try VirtualScreen(width: 1280, height: 800)
      let desktop = try Desktop(on: screen)
      let view = try ViewProgram(root, ["--encoder=vp8"], in: network)
      let capture = try root.capture()
      let page = try BrowserPage(
        view.url, "browser=firefox", usedIn: root, on: screen, in: network)
      try page.waitForMovingPictures()
      func isPressed(_ control: String) -> String {
        "document.querySelector('[data-part=\(control)]').ariaPressed === 'true'"
      }
      let full = "document.fullscreenElement?.dataset.part === 'player'"
      try click("full", of: page, until: "\(full) && \(isPressed("full"))")
      try page.wait(until: "innerWidth === 1280 && innerHeight === 800")
      // The same button ends it.
      try click(
        "full", of: page, until: "!document.fullscreenElement && !(\(isPressed("full")))")
      let inset = "document.pictureInPictureElement === document.querySelector('video')"
      try click("inset", of: page, until: "\(inset) && \(isPressed("inset"))")
      try page.order("document.querySelector('[data-part=inset]').click()")
      try page.wait(until: "!document.pictureInPictureElement && !(\(isPressed("inset")))")
      try page.waitForMovingPictures()
      try page.program.end(with: SIGTERM)
      try view.program.end(with: SIGTERM)
      try capture.end(with: SIGTERM)
      withExtendedLifetime(desktop) {}
    }

    /// Clicks, and again every ten seconds until it has an effect: on a busy machine the window may
    /// move meanwhile, or have the focus too late for Firefox.
    private func click(
      _ control: String, of page: BrowserPage, until effect: String
    ) throws {
      var again = Deadline.now
      try waitUntil(effect) {
        if again.isPast {
          try page.order("click [data-part=\(control)]")
          again = .after(.seconds(10))
        }
        return try page.order(effect) == "true"
      }
    }

    /// - Parameter isPressing: false for Firefox: without a window, its keys press no button. Nor
    ///   can it show more than the page: `firefoxShowsPicturesInsetAndOnTheFullScreen`.
    private func checkControls(_ page: BrowserPage, pressing isPressing: Bool) throws {
      if isPressing {
        try page.wait(for: "sound") { $0.contains { $0.level > 0.05 } }
      } else {
        try page.wait(until: Self.isSoundReceived)
      }
      // Names do not change with the state, which aria-pressed says.
      for control in [
        "Mute,true", "Volume,", "Picture in picture,false", "Full screen,false", "Statistics,",
      ] {
        try page.order("press Tab")
        #expect(try page.order(Self.focused) == "\"\(control)\"")
      }
      try page.order("document.querySelector('[data-part=mute]').focus()")
      try page.order(isPressing ? "press Space" : "document.activeElement.click()")
      try page.wait(until: "document.activeElement.ariaPressed === 'false'")
      #expect(
        try page.order("[document.querySelector('video').muted, document.activeElement.title]")
          == "[false, \"Turn sound off\"]")
      try page.order("press Tab")
      try page.order(isPressing ? "press ArrowLeft" : "document.activeElement.stepDown()")
      try page.order("document.activeElement.dispatchEvent(new Event('input'))")
      try page.wait(until: "document.querySelector('video').volume === 0.95")
      for control in isPressing ? ["inset", "full"] : [] {
        try page.order("document.querySelector('[data-part=\(control)]').focus()")
        try page.order("press Enter")
        try page.wait(until: "document.activeElement.ariaPressed === 'true'")
      }
      // The browser remembers the volume.
      try page.order("location.reload()")
      try page.waitForMovingPictures()
      try page.wait(until: "document.querySelector('video').volume === 0.95")
    }

    private func checkChoice(_ page: BrowserPage, of view: ViewProgram) throws {
      func waitForPictures(_ width: Int) throws {
        try page.wait(for: "pictures of \(width)") { sights in
          Set(sights.filter { $0.width == width && $0.state == "Live" }.map(\.pixels)).count > 2
        }
      }
      // Streams appear and vanish. One that the page may not show is not named.
      #expect(try page.order("document.querySelector('select').hidden") == "true")
      let window = try root.framebus("capture", "test", "--size=400x300", "--stream=window.1")
      try waitUntil("it is listed") {
        try page.order(Self.names) == "[\"screen\", \"window.1\"]"
      }
      // In one order: a new list of streams in between would undo the choice.
      try page.order(
        "((list) => { list.value = 'window.1'; list.dispatchEvent(new Event('change')) })"
          + "(document.querySelector('select'))")
      try waitForPictures(400)
      // The connection for the former stream is removed, not left to time out.
      #expect(try view.figures().viewers == 0 && view.figures(of: "window.1").viewers == 1)
      #expect(try page.order("location.search") == "\"?stream=window.1\"")
      try page.order("location.reload()")
      try waitForPictures(400)
      try window.end(with: SIGTERM)
      try page.wait(for: "its end") { $0.contains { $0.state == "The stream is gone" } }
      try waitUntil("the list names its end") {
        try page.order(Self.names) == "[\"screen\", \"window.1 (not running)\"]"
      }
      try page.order("history.back()")
      try waitForPictures(320)
      try waitUntil("nobody watches it") { try view.figures(of: "window.1").viewers == 0 }
    }
  }
#endif
