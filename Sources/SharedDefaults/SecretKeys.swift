import AppGroup

/// Which keys name secrets. A suite is a plain file that every member reads, and that finds its way
/// into backups: what opens something does not belong there.
struct SecretKeys: Sendable {
  /// Keys that are secret, whatever they look like.
  let declared: Set<String>
  /// Keys that are none, whatever they look like.
  let exempt: Set<String>

  static let byLooks = SecretKeys(declared: [], exempt: [])

  /// Words of a key that mean a secret. A key's words end where its letters change from small to
  /// capital, and at everything that is no letter and no digit.
  private static let words: Set<String> = [
    "token", "tokens", "bearer", "password", "passwords", "passwd", "pwd", "passphrase", "passcode",
    "secret", "secrets", "credential", "credentials", "apikey", "authorization", "jwt", "otp",
    "totp", "cookie", "cookies", "privatekey", "accesskey", "secretkey", "signingkey", "sessionkey",
    "encryptionkey", "masterkey", "streamkey",
  ]

  func contains(_ key: String) -> Bool {
    if declared.contains(key) { return true }
    if exempt.contains(key) { return false }
    let words = Self.split(key)
    // Words that are written apart mean what they mean together: api_key, API key, private-key.
    let pairs = zip(words, words.dropFirst()).map { $0 + $1 }
    return !Self.words.isDisjoint(with: words + pairs)
  }

  /// The first secret key among a key and those within its value.
  func find(in key: String, _ value: DefaultsValue) -> String? {
    contains(key) ? key : find(in: value)
  }

  private func find(in value: DefaultsValue) -> String? {
    switch value {
    case .array(let values): values.lazy.compactMap(find(in:)).first
    case .dictionary(let values): values.lazy.compactMap(find(in:_:)).first
    default: nil
    }
  }

  /// `whipBearer` → whip, bearer; `API_KEY` → api, key; `userAPIKey` → user, api, key.
  static func split(_ key: String) -> [String] {
    var words: [String] = []
    var word = ""
    let letters = Array(key)
    for (index, letter) in letters.enumerated() {
      guard letter.isLetter || letter.isNumber else {
        words.append(word)
        word = ""
        continue
      }
      let isAfterSmall = index > 0 && letters[index - 1].isLowercase
      let isBeforeSmall = index + 1 < letters.count && letters[index + 1].isLowercase
      let isAfterCapital = index > 0 && letters[index - 1].isUppercase
      if letter.isUppercase, isAfterSmall || (isAfterCapital && isBeforeSmall) {
        words.append(word)
        word = ""
      }
      word += letter.lowercased()
    }
    return (words + [word]).filter { !$0.isEmpty }
  }

  /// The command that seals what a key was meant to hold, with the key as the account.
  static func command(for key: String, suite: SuiteName, group: GroupID) -> String {
    let account =
      key.allSatisfy { $0.isLetter || $0.isNumber || "._-".contains($0) }
      ? key : "'\(key.replacing("'", with: "'\\''"))'"
    return "framebus credential set \(suite) \(account) --group \(group)"
  }
}
