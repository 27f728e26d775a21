#if Media
  import Capture

  /// The windows that no frame of a running capture shows: those of its options, and those that the
  /// group's setting names at the moment.
  struct FollowedProtection {
    private let own: ProtectionRule?
    /// Nil if every window may be seen, whatever the group says.
    private var setting: ProtectionSetting?
    private var named: [WindowRule] = []
    /// Why the setting does not say what must not be seen; nil if it does.
    private(set) var failure: ProtectionSettingError?

    /// - Throws: if the setting cannot be read, or is malformed.
    init(
      _ options: ScreenOptions, in session: CaptureSession
    ) throws(ProtectionSettingError) {
      own = options.protection
      guard options.followsSetting else { return }
      var setting = try ProtectionSetting(of: session.group)
      named = try setting.rules()
      self.setting = setting
    }

    /// Nil to show every window.
    var rule: ProtectionRule? {
      if named.isEmpty { return own }
      var rule = own ?? ProtectionRule()
      for window in named { rule.add(window.text) }
      return rule
    }

    /// Reads the setting again.
    /// - Returns: whether the rule is another.
    mutating func refresh() -> Bool {
      do throws(ProtectionSettingError) {
        guard let present = try setting?.rules() else { return false }
        failure = nil
        if present == named { return false }
        named = present
        return true
      } catch {
        failure = error
        return false
      }
    }
  }
#endif
