import AppGroup

/// The rule that decides which keys name secrets. Secrets are refused, because every member can
/// read a suite and backups contain it.
struct SecretKeys: Sendable {
  /// Keys that the program declared secret.
  let declared: Set<String>
  /// Keys that the program declared not secret.
  let exempt: Set<String>

  static let byAppearance = SecretKeys(declared: [], exempt: [])

  /// Words that mark a key as secret. A key is split into words before a capital letter that
  /// follows a small one, and at every character that is neither a letter nor a digit.
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
    // Two words count like one compound: api_key, API key, private-key.
    let pairs = zip(words, words.dropFirst()).map { $0 + $1 }
    return !Self.words.isDisjoint(with: words + pairs)
  }

  /// The first secret key among the key itself and the keys inside its value.
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

  /// The command that stores the value as a credential, with the key as the account.
  static func command(for key: String, suite: SuiteName, group: GroupID) -> String {
    let account =
      key.allSatisfy { $0.isLetter || $0.isNumber || "._-".contains($0) }
      ? key : "'\(key.replacing("'", with: "'\\''"))'"
    return "framebus credential set \(suite) \(account) --group \(group)"
  }
}
