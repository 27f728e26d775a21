import Capture
import Platform
import SharedDefaults

/// What a start changes in the session that runs, if its request says so.
extension BroadcastController {
  /// Makes those changes that a running session follows: more protected windows, an earlier end.
  /// The windows are added to the group's setting, which running captures follow.
  /// - Returns: the differences that have been removed.
  func follow(
    _ differences: [BroadcastDifference], to request: BroadcastRequest, in record: BroadcastRecord
  ) throws(BroadcastError) -> [BroadcastDifference] {
    let live = differences.filter { record.options.canFollow(request, in: $0.option) }
    if live.isEmpty { return [] }
    let names = live.map(\.option)
    var added: [WindowRule] = []
    if names.contains("protect"), case .on(let rules)? = request.capture.protection {
      added = rules.filter { $0 != .marked }
      try protect(added)
    }
    let duration = names.contains("duration") ? request.duration : nil
    try board.change(record.session) { record in
      if !added.isEmpty { record.options.capture.protection.add(added) }
      guard let duration else { return }
      record.options.duration = duration / .seconds(1)
      record.options.end = min(record.options.end, .after(duration))
    }
    return live
  }

  private func protect(_ rules: [WindowRule]) throws(BroadcastError) {
    var failure: CaptureOptionError?
    do throws(DefaultsError) {
      try SharedDefaults(in: group).update { draft in
        var items: [DefaultsValue] = []
        if case .array(let present)? = draft[WindowRule.settingKey] { items = present }
        items += rules.map { .string($0.text) }.filter { !items.contains($0) }
        if items.count > WindowRule.maximumCount { return failure = .tooManyWindows(items.count) }
        draft[WindowRule.settingKey] = .array(items)
      }
    } catch { throw .settings(error) }
    if let failure { throw .option(failure) }
  }
}

extension SessionOptions {
  /// Whether a running session can take an option from a request. No window is shown by that which
  /// was black, and the end is not postponed.
  fileprivate func canFollow(_ request: BroadcastRequest, in option: String) -> Bool {
    switch option {
    case "protect":
      if case .on? = request.capture.protection { capture.protection != .off } else { false }
    case "duration": request.duration.map { .after($0) < end } ?? false
    default: false
    }
  }
}
