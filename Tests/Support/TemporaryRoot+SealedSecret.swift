import Platform

extension TemporaryRoot {
  /// Stores a secret for extensions in the local group of this root.
  package func seal(_ secret: String, _ service: String, _ account: String) throws {
    let pipe = try OneWayPipe()
    try writeFully(Array(secret.utf8), to: pipe.writeEnd.number)
    let end = try pipe.readEnd.duplicate()
    _ = pipe.takeWriteEnd()
    let result = try RunningProgram(
      "framebus",
      ["credential", "add", "--root", path, "--recipient", "extension", service, account],
      environment: ["FRAMEBUS_GROUP": nil], input: .descriptor(end.number)
    ).finish()
    guard result.status.isSuccess else { throw HarnessError(result.errors) }
  }
}
