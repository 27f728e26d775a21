import Foundation
import TestSupport
import Testing

@testable import Platform

/// Encryption, and who may connect.
@Suite(.serialized) struct AccessTests {
  private static let table = #"notifications = ["a.b"]"#

  /// A key and certificate for 127.0.0.1, that sign themselves.
  private func makeCertificate(in root: TemporaryRoot) throws {
    let result = try run(
      "openssl",
      [
        "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
        "-addext", "subjectAltName=DNS:localhost", "-keyout", root.file("key.pem"), "-out",
        root.file("certificate.pem"),
      ])
    #expect(result.status == .exited(0), "\(result.errors)")
  }

  private func seal(_ secret: String, _ account: String, on machine: Machine) throws {
    let file = machine.root.file("secret")
    try secret.write(toFile: file, atomically: true, encoding: .utf8)
    let result = try run(
      "sh",
      [
        "-c", "\(try pathOfProgram("framebus")) credential add nats \"$@\" < \(file)", "sh",
        account,
      ] + machine.options)
    #expect(result.status == .exited(0), "\(result.errors)")
  }

  @Test func certificateIsVerifiedAndThePasswordComesFromTheStore() throws {
    try withWatchdog {
      let files = try TemporaryRoot()
      try makeCertificate(in: files)
      let server = try NATSServer(
        settings: """
          tls { cert_file: "\(files.file("certificate.pem"))", key_file: "\(files.file("key.pem"))" }
          authorization { user: alice, password: "open sesame" }
          """)
      let one = try Machine("one", bridging: Self.table)
      try seal("open sesame", "alice", on: one)
      try seal("guess", "mallory", on: one)
      let address = "tls://localhost:\(server.port.number)"
      let trusting = ["--ca", files.file("certificate.pem")]
      // The system does not trust the certificate.
      try one.connect(to: address, ["--credential", "nats/alice"], waits: false)
      try one.bridge?.waitForErrors("not connected to")
      try one.disconnect()
      try one.connect(
        to: address.replacing("localhost", with: "127.0.0.1"),
        ["--credential", "nats/alice"] + trusting, waits: false)
      try one.bridge?.waitForErrors("not connected to")
      try one.disconnect()
      try one.connect(to: address, ["--credential", "nats/mallory"] + trusting, waits: false)
      try one.bridge?.waitForErrors("not connected to")
      try one.disconnect()
      try one.connect(to: address, ["--credential", "nats/alice"] + trusting)
      let log = try run("framebus", ["log"] + one.options).output
      #expect(!log.contains("open sesame") && log.contains("connected to tls://localhost"))
    }
  }

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
