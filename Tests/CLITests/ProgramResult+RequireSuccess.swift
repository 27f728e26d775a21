import TestSupport

extension ProgramResult {
  /// For steps that only prepare a test.
  @discardableResult
  func requireSuccess() throws -> ProgramResult {
    if status == .exited(0) { return self }
    throw HarnessError("\(status)\n--- standard output\n\(output)\n--- standard error\n\(errors)")
  }
}
