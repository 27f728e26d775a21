import Platform
import Synchronization

/// The commands that messages suggest, such as “`framebus streams`”: with the --root and --group of
/// the user's own command, so that they work on the same group.
enum SuggestedCommand {
  private struct Location {
    var root: String?
    var group: String?
  }

  private static let given = Mutex(Location())

  /// - Parameters: the options as the user gave them; nil for those that were omitted.
  static func useLocation(root: String?, group: String?) {
    given.withLock { $0 = Location(root: root, group: group) }
  }

  /// A message with each suggested command completed.
  static func located(in message: String) -> String {
    let location = given.withLock { $0 }
    if location.root == nil, location.group == nil { return message }
    // The odd parts are between backticks.
    let parts = message.split(separator: "`", omittingEmptySubsequences: false).map(String.init)
    return parts.enumerated().map { index, part in
      index % 2 == 1 && index < parts.count - 1 ? completed(part, location) : part
    }.joined(separator: "`")
  }

  /// Verbs that use no existing group.
  private static let groupless: Set<String> = ["bench", "demo", "doctor"]

  private static func completed(_ command: String, _ location: Location) -> String {
    let words = command.split(separator: " ").map(String.init)
    guard words.count >= 2, words[0] == "framebus", !groupless.contains(words[1]) else {
      return command
    }
    var options = ""
    if let root = location.root, !words.contains("--root"), !words.contains("--system") {
      options += " --root " + quotedForShell(root)
    }
    // `framebus group` takes the ID as an argument.
    if let group = location.group, words[1] != "group", !words.contains("--group") {
      options += " --group " + quotedForShell(group)
    }
    // Behind `--` they would belong to another program.
    guard let end = command.firstRange(of: " -- ") else { return command + options }
    return String(command[..<end.lowerBound]) + options + String(command[end.lowerBound...])
  }

  /// A word that a POSIX shell reads as the text.
  private static func quotedForShell(_ text: String) -> String {
    let isPlain = text.allSatisfy {
      $0.isASCII && ($0.isLetter || $0.isNumber || "_-./:@%+=,".contains($0))
    }
    return isPlain && !text.isEmpty ? text : "'" + text.replacing("'", with: "'\\''") + "'"
  }
}
