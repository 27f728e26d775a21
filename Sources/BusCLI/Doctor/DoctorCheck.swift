/// One thing that this machine has or lacks.
struct DoctorCheck: Encodable {
  enum Status: String, Encodable {
    case ok
    /// Something optional is lacking; what works without it is said.
    case limited
    case missing
  }

  let check: String
  let status: Status
  /// What was found.
  let detail: String
  /// What to do about it; nil when it is well.
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
