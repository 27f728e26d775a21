#if Media
  import CWebRTC
  import Platform
  import Synchronization
  import WHIP

  /// The connection state of a viewer, updated by webrtcbin's threads.
  final class ViewerState: Sendable {
    private struct Values {
      var isGathered = false
      var isConnected = false
      /// When the connection was lost; nil while it works.
      var lostAtNs: UInt64?
      var isEnded = false
      var shownSize: ShownSize?
    }

    private static let connectingNs: UInt64 = 20_000_000_000
    private static let silenceNs: UInt64 = 10_000_000_000

    private let values = Mutex(Values())
    private let admittedAtNs = monotonicNowNs()
    /// Called after each change, on any thread.
    private let onChange: @Sendable (_ wantsKeyFrame: Bool) -> Void

    init(onChange: @escaping @Sendable (_ wantsKeyFrame: Bool) -> Void) {
      self.onChange = onChange
    }

    var isGathered: Bool { values.withLock { $0.isGathered } }
    var isConnected: Bool { values.withLock { $0.isConnected } }

    /// Whether the viewer failed, did not connect in time, or has been silent for too long.
    var isOver: Bool {
      let nowNs = monotonicNowNs()
      return values.withLock {
        if $0.isEnded { return true }
        if let lostAtNs = $0.lostAtNs { return nowNs > lostAtNs &+ Self.silenceNs }
        return !$0.isConnected && nowNs > admittedAtNs &+ Self.connectingNs
      }
    }

    /// The size in which the viewer shows the pictures; nil for full size.
    var shownSize: ShownSize? { values.withLock { $0.shownSize } }

    func note(_ size: ShownSize) { values.withLock { $0.shownSize = size } }

    func requestKeyFrame() { onChange(true) }

    func take(_ kind: webrtc_event_kind) {
      values.withLock {
        switch kind {
        case WEBRTC_GATHERED: $0.isGathered = true
        case WEBRTC_CONNECTED: ($0.isConnected, $0.lostAtNs) = (true, nil)
        case WEBRTC_DISCONNECTED: $0.lostAtNs = monotonicNowNs()
        case WEBRTC_FAILED, WEBRTC_CLOSED, WEBRTC_IMPOSTOR: $0.isEnded = true
        default: break
        }
      }
      onChange(kind == WEBRTC_CONNECTED)
    }
  }

  /// Called by CWebRTC on a thread of webrtcbin.
  /// SAFETY: `context` is the `ViewerState` that its `Viewer` keeps until the threads have ended.
  func handleViewerEvent(
    _ context: UnsafeMutableRawPointer?, _ event: UnsafePointer<webrtc_event>?
  ) {
    guard let context = unsafe context, let event = unsafe event?.pointee else { return }
    unsafe Unmanaged<ViewerState>.fromOpaque(context).takeUnretainedValue().take(event.kind)
  }

  /// SAFETY: as above.
  func handleViewerKeyFrame(_ context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<ViewerState>.fromOpaque(context).takeUnretainedValue().requestKeyFrame()
  }
#endif
