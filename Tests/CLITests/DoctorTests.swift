import Foundation
import Platform
import TestSupport
import Testing

/// `framebus doctor`, whose verdict depends on this machine.
@Suite struct DoctorTests {
  private func checks(_ environment: [String: String?] = [:]) throws -> [[String: String]] {
    let result = try run("framebus", ["doctor", "--json"], environment: environment)
    let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
    return try #require(object as? [[String: String]])
  }

  @Test func everyFailedCheckHasRemedy() throws {
    let checks = try checks()
    #expect(checks.count > 10)
    for check in checks where check["status"] != "ok" {
      #expect(check["fix"]?.isEmpty == false, "\(check)")
    }
  }

  @Test func exitStatusShowsMissingParts() throws {
    let isMissing = try checks().contains { $0["status"] == "missing" }
    let result = try run("framebus", ["doctor"])
    #expect(result.status == .exited(isMissing ? 1 : 0))
    #expect(result.errors.contains("error: ") == isMissing)
  }

  @Test(.enabled(if: TestUser.canBeCreated, "only root can hide a file system"))
  func reportsChildrenMemoryAsLimitedWithoutControlGroups() throws {
    let result = try RunningProgram(withoutControlGroups: "framebus", ["doctor"]).finish()
    let line = result.output.split(separator: "\n").first {
      $0.contains("confined children-memory")
    }
    #expect(line?.hasPrefix("limited") == true, "\(result.output)")
    #expect(line?.contains("no control group can be created") == true)
  }

  @Test func hasLinesForSoundAndProtocols() throws {
    let server = try checks(["PULSE_SERVER": "unix:/none"]).filter {
      $0["check"] == "sound server"
    }
    #expect(server.map { $0["status"] } == ["limited"])
    #expect(server.first?["detail"]?.contains("/none: No such file") == true, "\(server)")
    #expect(server.first?["fix"]?.contains("PipeWire") == true)
    let names = Set(try checks().compactMap { $0["check"] })
    let expected: Set = [
      "sound server", "encoder h264", "encoder av1", "Opus encoder", "AAC encoder", "upload srt",
      "upload rtmp", "upload hls",
    ]
    #expect(expected.isSubset(of: names), "\(names)")
  }

  @Test func distinguishesWaylandFromMissingScreen() throws {
    let wayland = try checks(["WAYLAND_DISPLAY": "wayland-0"])
    #expect(wayland.contains { $0["check"] == "screen" && $0["detail"]!.contains("Wayland") })
    let none = try checks(["WAYLAND_DISPLAY": nil, "XDG_SESSION_TYPE": nil, "DISPLAY": nil])
    #expect(none.contains { $0["check"] == "screen" && $0["detail"]!.contains("no DISPLAY") })
  }

  /// The traps of a Wayland desktop, each with its own line and remedy.
  @Test func eachTrapOfThePortalHasALine() throws {
    let folder = try TemporaryRoot()
    let nowhere = [
      "DBUS_SESSION_BUS_ADDRESS": "unix:path=\(folder.file("bus"))",
      "XDG_RUNTIME_DIR": folder.path, "XDG_SESSION_TYPE": nil,
    ]
    let checks = try checks(nowhere)
    let fixes = Dictionary(
      grouping: checks, by: { $0["check"] ?? "" }
    ).mapValues { $0.map { "\($0["detail"] ?? "") \($0["fix"] ?? "")" } }
    let line = try #require(fixes["desktop portal"]?.first)
    #expect(line.components(separatedBy: "dbus-run-session").count == 2, "\(line)")
    #expect(fixes["PipeWire"]?.first?.contains("start `pipewire`") == true, "\(fixes)")
    let traps = [
      "sway's user": geteuid() == 0 && programInPath(named: "sway") != nil
        ? "ordinary user" : "",
      "sway's portal backend": "xdg-desktop-portal-wlr",
      "PipeWire session manager": "", "gst:pipewiresrc": "`portal` does not use it",
    ]
    for (name, text) in traps {
      #expect(fixes[name]?.count == 1, "\(name)")
      #expect(text.isEmpty || fixes[name]?.first?.contains(text) == true, "\(fixes[name] ?? [])")
    }
  }
}
