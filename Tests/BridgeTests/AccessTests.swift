import Foundation
import TestSupport
import Testing

@testable import Platform

/// Encryption, and who may connect.
@Suite(.serialized) struct AccessTests {
  private static let table = #"notifications = ["a.b"]"#

  @Test func otherMachineIsReachedWithEncryptionOrNotAtAll() throws {
    let one = try Machine("one", bridging: Self.table)
    for (address, reason) in [
      ("http://h", "is not a server"), ("nats://u:p@h", "belongs into the credential store"),
    ] {
      let result = try run("framebus", ["bridge", address] + one.options)
      #expect(result.status == .exited(2))
      #expect(result.errors.contains(reason), "\(result.errors)")
    }
  }
}
