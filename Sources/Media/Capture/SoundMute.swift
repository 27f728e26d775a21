/// What a sound server has muted, so that a capture receives only silence.
public enum SoundMute: Hashable, Sendable {
  /// Nothing is muted.
  case nothing
  /// The device itself.
  case device
  /// The output whose sound the device repeats.
  case monitoredOutput
}
