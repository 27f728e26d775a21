#if Media
  import CGStreamer
  import Capture
  import Platform

  /// Finds out why a device delivers only silence: its server has muted it. Asks the server only
  /// while the device is silent, and never blocks.
  @safe struct MuteWatch: ~Copyable {
    /// How long a device is silent before its server is asked, and how often it is asked then.
    private static let silenceNs: UInt64 = 500_000_000
    private static let pollNs: UInt64 = 100_000_000

    /// SAFETY: lives until deinit, which alone frees it. Nil without libpulse.
    @unsafe private let mute: OpaquePointer?
    private var heardAtNs = monotonicNowNs()
    private var polledAtNs: UInt64 = 0

    /// - Parameter device: the server's name for it.
    init(_ device: String) { unsafe mute = fb_device_mute_new(device) }

    deinit { if let mute = unsafe mute { unsafe fb_device_mute_free(mute) } }

    mutating func noteSound() { heardAtNs = monotonicNowNs() }

    /// What is muted: the device, or the output that it monitors; `.nothing` once there is sound.
    /// - Returns: nil if it is unknown.
    mutating func poll() -> SoundMute? {
      let nowNs = monotonicNowNs()
      guard nowNs >= heardAtNs &+ Self.silenceNs else { return .nothing }
      guard let mute = unsafe mute, nowNs >= polledAtNs &+ Self.pollNs else { return nil }
      polledAtNs = nowNs
      switch unsafe fb_device_mute_poll(mute) {
      case FB_MUTE_AUDIBLE: return .nothing
      case FB_MUTE_SOURCE: return .device
      case FB_MUTE_MONITORED_SINK: return .monitoredOutput
      default: return nil
      }
    }
  }
#endif
