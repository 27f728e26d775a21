/// What a sound server has muted, so that a capture receives only silence.
public enum SoundMute: Hashable, Sendable {
  case nothing
  case device
  /// The output whose sound the device repeats.
  case monitoredOutput
}
