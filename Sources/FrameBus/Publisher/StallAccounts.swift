import Platform

/// The total time that each lossless subscriber has blocked the publisher.
struct StallAccounts {
  private struct Account {
    var tenancy: UInt64 = 0
    var spentNs: UInt64 = 0
  }

  private var accounts = Array(repeating: Account(), count: Seats.count)

  /// The remaining part of a budget.
  func leftNs(of budgetNs: UInt64, at seat: Int, tenancy: UInt64) -> UInt64 {
    let account = accounts[seat]
    return account.tenancy == tenancy ? budgetNs - min(budgetNs, account.spentNs) : budgetNs
  }

  /// Charges a subscriber. A seat's new subscriber starts at zero.
  mutating func spend(_ ns: UInt64, at seat: Int, tenancy: UInt64) {
    if accounts[seat].tenancy != tenancy { accounts[seat] = Account(tenancy: tenancy) }
    accounts[seat].spentNs += ns
  }
}
