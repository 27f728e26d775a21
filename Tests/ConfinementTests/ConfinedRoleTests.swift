import Foundation
import Platform
import TestSupport
import Testing

/// FrameBus's own programs work in a sandbox.
@Suite struct ConfinedRoleTests {
  private func start(
    _ role: String, _ command: [String], _ settings: [String] = [], in world: ConfinedWorld,
    forbidding: String? = nil, environment: [String: String?] = [:]
  ) throws -> RunningProgram {
    var environment = environment
    environment["FRAMEBUS_GROUP"] = "a.b"
    environment["FRAMEBUS_HOME"] = world.root.path
    return try world.start(
      role, command, settings, forbidding: forbidding, environment: environment)
  }

  private func finish(
    _ role: String, _ command: [String], in world: ConfinedWorld, forbidding: String? = nil
  ) throws -> ConfinedWorld.Outcome {
    let outcome = ConfinedWorld.Outcome(
      try start(role, command, in: world, forbidding: forbidding).finish())
    #expect(outcome.off.contains("private-root") == (forbidding != nil), "\(outcome)")
    if forbidding == nil { #expect(outcome.off.isEmpty, "\(outcome)") }
    #expect(outcome.ending == "finished", "\(outcome)")
    return outcome
  }

  private func framebus(_ arguments: String..., in world: ConfinedWorld) throws -> String {
    try output(of: "framebus", arguments + ["--group=a.b", "--root=\(world.root.path)"])
  }

  /// Without namespaces there is no private root, and no role may change permissions.
  @Test(arguments: [nil, "namespaces"])
  func framesReachAConfinedUploadFromAConfinedCapture(lacking: String?) throws {
    let world = try ConfinedWorld()
    let capture = try start(
      "capture", ["framebus-capture", "test", "--size", "320x240", "--fps", "30"], in: world,
      forbidding: lacking)
    let upload = try finish(
      "extension", ["framebus-upload", "null", "--frames", "20"], in: world, forbidding: lacking)
    #expect(upload.description.contains("20 frames"), "\(upload)")
    try capture.end(with: SIGTERM)
    #expect(ConfinedWorld.Outcome(try capture.finish()).off.isEmpty == (lacking == nil))
  }

  #if Media
    @Test func confinedUploadEncodesAConfinedScreenCapture() throws {
      let world = try ConfinedWorld()
      let screen = try VirtualScreen()
      let folder = try TemporaryRoot()
      let capture = try start(
        "capture", ["framebus-capture", "screen", "--fps", "30"],
        ["display=\(screen.display)"], in: world, environment: screen.environment)
      let upload = try start(
        "extension", ["framebus-upload", "file:\(folder.path)/out.mkv", "--duration", "2"],
        ["grant=\(folder.path)"], in: world)
      let outcome = ConfinedWorld.Outcome(try upload.finish())
      #expect(outcome.ending == "finished", "\(outcome)")
      #expect(outcome.off.isEmpty, "\(outcome)")
      let frames = try output(
        of: "ffprobe",
        [
          "-v", "error", "-count_frames", "-show_entries", "stream=nb_read_frames", "-of",
          "csv=p=0",
        ]
          + [folder.file("out.mkv")])
      let count = Int(frames.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
      #expect(count > 0, "\(frames)")
      try capture.end(with: SIGTERM)
    }
  #endif

  @Test(arguments: ["capture", "extension"], [nil, "namespaces"])
  func groupFacilitiesWorkInAConfinedRole(role: String, lacking: String?) throws {
    let world = try ConfinedWorld()
    func finish(_ command: [String]) throws {
      _ = try self.finish(role, command, in: world, forbidding: lacking)
    }
    _ = try framebus("semaphore", "create", "camera", in: world)
    let watch = try start(
      role, ["framebus", "notify", "watch", "x.y", "--count", "1"], in: world,
      forbidding: lacking)
    try waitUntil("the observer is there") {
      try framebus("notify", "list", "--json", in: world).contains("x.y")
    }
    try finish(["framebus", "notify", "post", "x.y"])
    #expect(try watch.finish().output.contains("x.y"))
    try finish(["framebus", "semaphore", "post", "camera"])
    try finish(["framebus", "defaults", "write", "settings", "rate", "30"])
    #expect(try framebus("defaults", "read", "settings", "rate", in: world) == "30\n")
    try finish(["framebus", "log", "append", "here I am"])
    #expect(try framebus("log", in: world).contains("here I am"))
  }

  @Test func handedOverCredentialOpensWithoutAccessToTheStore() throws {
    let world = try ConfinedWorld()
    let pipe = try OneWayPipe()
    try writeFully(Array("token-1".utf8), to: pipe.writeEnd.number)
    let number = try pipe.readEnd.duplicate()
    _ = pipe.takeWriteEnd()
    let location = ["--group=a.b", "--root=\(world.root.path)"]
    let result = try RunningProgram(
      "framebus",
      ["credential", "run", "--lease-fd", "3:live/key", "--role", "extension"] + location
        + ["--", try pathOfProgram("RoleHost"), "role=extension", "root=\(world.root.path)", "--"]
        + ["framebus", "credential", "get", "live", "key", "--role", "extension"] + location,
      inherited: [number.number]
    ).finish()
    #expect(result.output.contains("token-1"), "\(result.output)\(result.errors)")
  }

  @Test(.enabled(if: TestUser.canBeCreated, "users can only be created by root"))
  func otherProcessesOfTheUserCannotReadAConfinedRolesMemory() throws {
    let world = try ConfinedWorld()
    let user = try TestUser()
    _ = try framebus("group", "grant", "capture", "--uid", "\(user.uid)", in: world)
    let capture = try world.start(
      "capture", ["framebus-capture", "test"], as: user,
      environment: ["FRAMEBUS_GROUP": "a.b", "FRAMEBUS_HOME": world.root.path])
    try waitUntil("the stream is there") {
      try framebus("streams", "--json", in: world).contains("screen")
    }
    let line = capture.output.text.split(separator: "\n").last { $0.hasPrefix("role ") }
    let process = String(line?.dropFirst("role ".count) ?? "")
    let peek = try user.run("BreakOut", ["peek=\(process)", "read=/proc/\(process)/environ"])
    #expect(peek.output == "peek=\(process): EPERM\nread=/proc/\(process)/environ: EACCES\n")
    try capture.end(with: SIGTERM)
  }
}
