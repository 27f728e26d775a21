import CommandLineSupport
import SharedDefaults
import Upload

/// `framebus upload add|remove DESTINATION…`: changes the setting that uploads with --follow read.
struct UploadList {
  enum Verb: String { case add, remove }

  private static let key = "uploadDestinations"

  let verb: Verb
  let destinations: [String]

  /// - Returns: nil if the words name destinations alone.
  init?(_ words: [String]) {
    guard let verb = words.first.flatMap(Verb.init(rawValue:)) else { return nil }
    self.verb = verb
    destinations = Array(words.dropFirst())
  }

  func run(_ global: GlobalOptions) throws {
    guard !destinations.isEmpty else {
      throw UsageError("upload \(verb.rawValue): name a destination")
    }
    for text in destinations { try check(text) }
    let settings = try SharedDefaults(in: global.openGroup(creatingLocal: true))
    try settings.update { values in
      var list: [DefaultsValue] = []
      if case .array(let present) = values[Self.key] { list = present }
      for text in destinations { change(&list, text) }
      values[Self.key] = list.isEmpty ? nil : .array(list)
    }
    global.terminal.report("the list has changed; uploads with --follow apply it")
  }

  /// Every member can read the list.
  private func check(_ text: String) throws(UsageError) {
    do throws(DestinationError) {
      let named = try DestinationSpecification(text)
      guard named.kind != nil, !named.followsSetting else { throw .malformed(text) }
    } catch {
      throw UsageError("\(error)")
    }
    if verb == .add, !DestinationKind.isPublic(text), text.withoutSecrets != text {
      throw UsageError(
        "every member of the group can read the list, and this address may have a secret in it;"
          + " name it when the upload starts")
    }
  }

  private func change(_ list: inout [DefaultsValue], _ text: String) {
    let (added, removed) = (DefaultsValue.string(text), DefaultsValue.string("-" + text))
    switch verb {
    case .add:
      list.removeAll { $0 == removed }
      if !list.contains(added) { list.append(added) }
    case .remove:
      let wasAdded = list.contains(added)
      list.removeAll { $0 == added }
      if !wasAdded, !list.contains(removed) { list.append(removed) }
    }
  }
}
