import ArgumentParser

/// The verb that a mistyped word most resembles.
enum SuggestedVerb {
  /// - Parameter words: the command line, without the program's name.
  /// - Returns: the command line up to the suggested verb, such as `framebus broadcast start`; nil
  ///   if the words name a verb, or resemble none.
  static func suggestion(
    for words: [String], of program: any ParsableCommand.Type
  ) -> String? {
    var command = program
    var path = program._commandName
    for word in words where !word.hasPrefix("-") {
      let verbs = command.configuration.subcommands
      if let verb = verbs.first(where: { $0._commandName == word }) {
        command = verb
        path += " " + word
        continue
      }
      let names = verbs.map { $0._commandName }
      guard let name = names.min(by: { distance($0, word) < distance($1, word) }),
        distance(name, word) <= max(1, word.count / 3)
      else { return nil }
      return "\(path) \(name)"
    }
    return nil
  }

  /// The first word that names no verb.
  static func unknownVerb(in words: [String], of program: any ParsableCommand.Type) -> String? {
    var command = program
    for word in words where !word.hasPrefix("-") {
      let verbs = command.configuration.subcommands
      guard let verb = verbs.first(where: { $0._commandName == word }) else { return word }
      command = verb
    }
    return nil
  }

  /// The number of letters to insert, remove, replace, or swap with their neighbour (optimal string
  /// alignment).
  static func distance(_ left: String, _ right: String) -> Int {
    let (left, right) = (Array(left), Array(right.prefix(64)))
    var rows = [Array(0...right.count)]
    for i in left.indices {
      var row = [i + 1]
      for j in right.indices {
        let isSame = left[i] == right[j]
        var cost = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (isSame ? 0 : 1))
        if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
          cost = min(cost, rows[i - 1][j - 1] + 1)
        }
        row.append(cost)
      }
      rows.append(row)
    }
    return rows[left.count][right.count]
  }
}
