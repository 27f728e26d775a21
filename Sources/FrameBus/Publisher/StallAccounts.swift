import Platform

/// How long each lossless subscriber has held the publisher up, all waits together. The publishing
/// thread's alone.
struct StallAccounts {
  private struct Account {
    var tenancy: UInt64 = 0
    var spentNs: UInt64 = 0
  }

  private var accounts = Array(repeating: Account(), count: Places.count)

  /// What is left of a budget.
  func leftNs(of budgetNs: UInt64, at place: Int, tenancy: UInt64) -> UInt64 {
    let account = accounts[place]
    return account.tenancy == tenancy ? budgetNs - min(budgetNs, account.spentNs) : budgetNs
  }

  /// A place's next subscriber pays for nothing that the last one spent.
  mutating func spend(_ ns: UInt64, at place: Int, tenancy: UInt64) {
    if accounts[place].tenancy != tenancy { accounts[place] = Account(tenancy: tenancy) }
    accounts[place].spentNs += ns
  }
}
