#if Media
  import CPipeWire
  import Capture
  import CredentialStore
  import FrameBus
  import Platform
  import ScreenCast

  /// One session of the portal, and the pictures that it gives. Ends both with this value.
  final class PortalLink {
    var capture: PipeWireCapture
    /// Nil if the session belongs to the process that started this one.
    private let portal: ScreenCastSession?

    /// How long the two sides may take to agree on a format.
    private static let formatLimit = Duration.seconds(10)

    private init(_ capture: consuming PipeWireCapture, _ portal: ScreenCastSession?) {
      self.capture = capture
      self.portal = portal
    }

    /// Has the user choose, or restores the choice.
    /// - Returns: nil if the run is over.
    static func open(
      _ options: PortalOptions, in session: CaptureSession
    ) throws(PortalError) -> PortalLink? {
      if let grant = options.grant {
        guard let number = grant.descriptor else {
          return PortalLink(
            try PipeWireCapture(node: grant.node, remote: nil, rate: options.rate), nil)
        }
        let remote: Descriptor
        let given = Descriptor(owning: number)
        // The copy is closed on exec, as an inherited one is not.
        do { remote = try given.duplicate() } catch { throw .system(error) }
        return PortalLink(
          try PipeWireCapture(node: grant.node, remote: remote, rate: options.rate), nil)
      }
      var request = ScreenCastRequest(
        sourceType: options.picture.rawValue, drawsCursor: options.drawsCursor)
      let nowNs = monotonicNowNs()
      let leftNs = max(session.deadline.monotonicNs, nowNs) - nowNs
      request.dialogLimit = min(request.dialogLimit, .nanoseconds(Int64(clamping: leftNs)))
      request.answerLimit = min(request.answerLimit, request.dialogLimit)
      let portal: ScreenCastSession
      do throws(ScreenCastError) {
        portal = try ScreenCastSession.open(
          request, keptIn: try? RestoreToken(of: session.stream, in: session.group),
          stop: session.stop, noticed: { session.noticed?($0) })
      } catch {
        if session.isOver { return nil }
        throw PortalError(error)
      }
      guard let remote = portal.takeRemote() else { preconditionFailure("opened twice") }
      let capture = try PipeWireCapture(node: portal.node, remote: remote, rate: options.rate)
      return PortalLink(capture, portal)
    }

    /// What has ended it, as text for people; nil if it goes on.
    func loss() throws(PortalError) -> String? {
      switch portal?.news() {
      case .closed: throw .closed
      case .gone: return "the portal has ended"
      case .nothing, nil: break
      }
      switch capture.iterate() {
      case .connecting, .ready: return nil
      case .lost(let why): return why
      case .failed(let why): throw .unreadable(why)
      }
    }

    /// Waits for news, for `deadline`, or for the end of the run.
    func wait(until deadline: Deadline, in session: CaptureSession) throws(PortalError) {
      let end = min(deadline, session.deadline)
      let stop = session.stop.descriptorNumber
      let pictures = capture.descriptorNumber
      do throws(SystemError) {
        if let news = portal?.descriptorNumber {
          _ = try firstReadable(stop, pictures, news, until: end)
        } else {
          _ = try firstReadable(stop, pictures, until: end)
        }
      } catch { throw .system(error) }
    }

    /// Waits until the producer has chosen a format.
    /// - Returns: nil if the run is over.
    func firstFormat(
      in session: CaptureSession
    ) throws(PortalError) -> fb_pipewire_format? {
      let deadline = Deadline.after(Self.formatLimit)
      while !session.isOver {
        if let why = try loss() { throw .lost(why) }
        if let format = capture.takeFormat() { return format }
        if deadline.isPast { throw .noFormat }
        try wait(until: deadline, in: session)
      }
      return nil
    }
  }
#endif
