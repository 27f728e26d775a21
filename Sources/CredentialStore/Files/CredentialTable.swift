/// The attributes of all credentials, sorted by name as in the index. Reading the index needs no
/// sorting, and a lookup is a binary search.
struct CredentialTable: Equatable {
  private(set) var values: [CredentialAttributes] = []

  init() {}

  /// - Returns: nil unless each name is greater than the one before it.
  init?(sorted values: [CredentialAttributes]) {
    guard zip(values, values.dropFirst()).allSatisfy({ $0.name < $1.name }) else { return nil }
    self.values = values
  }

  var count: Int { values.count }

  mutating func reserve(_ count: Int) { values.reserveCapacity(count) }

  /// Appends credentials whose names are greater than all of these.
  mutating func append(_ more: CredentialTable) { values += more.values }

  subscript(name: CredentialName) -> CredentialAttributes? {
    get {
      let index = index(of: name)
      return has(name, at: index) ? values[index] : nil
    }
    set {
      let index = index(of: name)
      switch (has(name, at: index), newValue) {
      case (true, let new?): values[index] = new
      case (true, nil): values.remove(at: index)
      case (false, let new?): values.insert(new, at: index)
      case (false, nil): break
      }
    }
  }

  private func has(_ name: CredentialName, at index: Int) -> Bool {
    index < values.count && values[index].name == name
  }

  /// The position of a name, or the position at which to insert it.
  private func index(of name: CredentialName) -> Int {
    var (low, high) = (0, values.count)
    while low < high {
      let middle = (low + high) / 2
      if values[middle].name < name { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
