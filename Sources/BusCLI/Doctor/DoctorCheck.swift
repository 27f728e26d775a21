/// The result of one check of this machine.
struct DoctorCheck: Encodable {
  enum Status: String, Encodable {
    case ok
    /// Something optional is missing; `detail` says what still works.
    case limited
    case missing
  }

  let check: String
  let status: Status
  /// The value or the problem found.
  let detail: String
  /// How to fix it; nil if the status is `ok`.
  let fix: String?

  init(_ check: String, _ status: Status, _ detail: String, fix: String? = nil) {
    self.check = check
    self.status = status
    self.detail = detail
    self.fix = status == .ok ? nil : fix
  }

  var line: String {
    let column = status.rawValue.padded(to: 9)
    return column + check.padded(to: 28) + detail + (fix.map { "; \($0)" } ?? "")
  }
}
