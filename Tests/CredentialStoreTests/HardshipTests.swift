import AppGroup
import Foundation
import TestSupport
import Testing

@testable import CredentialStore
@testable import Platform

/// Failures without an attacker: a full disk, concurrent writers, a newer version.
@Suite struct HardshipTests {
  private let name = CredentialWorld.name

  /// Frees one more page at a time, so that the disk becomes full at every step of a change.
  @Test(.enabled(if: geteuid() == 0, "mounting takes root"))
  func fullDiskLosesNothing() throws {
    let world = try CredentialWorld()
    let small = world.root.file("small")
    let program = try pathOfProgram("framebus")
    let script = """
      mkdir \(small) && mount -t tmpfs -o size=1m tmpfs \(small) || exit 77
      bus() { "\(program)" "$@" --root \(small)/place --group a.b; }
      bus group create > /dev/null
      printf new-0 | bus credential set s a --quiet
      for free in 1 2 3 4 5 6 7 8 9 10 11 12; do
        dd if=/dev/zero of=\(small)/filler bs=4096 2> /dev/null
        truncate -s -$((free * 4096)) \(small)/filler
        printf new-$free | bus credential set s a --recipient extension 2> \(small).errors
        status=$?
        rm \(small)/filler
        echo "$free $status $(bus credential get s a) $(bus credential list | wc -l)" \
          "$(grep -c 'No space left' \(small).errors)"
      done
      bus credential audit 2>&1 | tail -n 1
      printf last | bus credential set s a --quiet
      printf last | bus credential set s a --quiet
      echo "files $(ls \(small)/place/state/a.b/credentials/items | wc -l)"
      """
    let result = try run("unshare", ["--mount", "sh", "-c", script])
    #expect(result.status == .exited(0), "\(result.errors)")
    let lines = result.output.split(separator: "\n").map { $0.split(separator: " ") }
    var kept = "new-0"
    var failures = 0
    for line in lines.prefix(12) {
      let (free, status) = (line[0], line[1])
      #expect(line[3] == "1", "\(line)")
      if status == "0" {
        #expect(line[2] == "new-\(free)", "\(line)")
      } else {
        #expect(status == "1" && line[4] == "1", "\(line)")
        #expect(line[2] == kept || line[2] == "new-\(free)", "\(line)")
        failures += 1
      }
      kept = String(line[2])
    }
    #expect((1..<12).contains(failures), "\(result.output)")
    #expect(result.output.contains("roles verified"))
    #expect(result.output.hasSuffix("files 1\n"))
  }

  @Test func concurrentWritersLoseNothing() throws {
    let world = try CredentialWorld()
    let program = try pathOfProgram("framebus")
    let location = "--root \(world.root.path) --group \(CredentialWorld.groupName) --quiet"
    let writers = try (0..<3).map { writer in
      try RunningProgram(
        "sh",
        [
          "-ec",
          """
          for number in 1 2 3 4 5 6; do
            printf \(writer)-$number | \(program) credential set shared a \(location)
            printf \(writer)-$number | \(program) credential add s$number a\(writer) \(location)
          done
          """,
        ])
    }
    for writer in writers {
      #expect(try writer.finish().status == .exited(0), "\(writer.transcript)")
    }
    let store = try world.open()
    #expect(try store.list().count == 19)
    for item in try store.list() where item.name.service != "shared" {
      let text = "\(item.name.account.dropFirst())-\(item.name.service.dropFirst())"
      #expect(try store.text(item.name) == text)
    }
    #expect(try world.items().count == 19)
    #expect(try store.auditLog(of: .host).filter { $0.verb != .get }.count == 36)
  }

  @Test func filesOfANewerVersionAreReported() throws {
    let world = try CredentialWorld()
    try world.addShared()
    _ = try world.open(.extension).text()
    let item = "items/" + (try #require(try world.items().first))
    for file in ["index", item, "keys/extension.key", "audit/extension.chain"] {
      let whole = try world.bytes(file)
      var newer = whole
      newer[8] += 1
      try world.overwrite(file, newer)
      let error = try #require(throws: CredentialError.self) { try world.open(.extension).text() }
      guard case .newerVersion = error else { throw error }
      try world.overwrite(file, whole)
    }
    #expect(try world.open(.extension).text() == "token-1")
    let exported = try world.store.export([name], for: try world.store.identity())
    #expect(throws: CredentialError.newerVersion(path: "the file")) {
      try world.store.importing(exported[..<8] + [2, 0, 0, 0] + exported[12...])
    }
  }
}
