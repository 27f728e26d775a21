import Foundation
import Platform
import TestSupport
import Testing

/// Each attempt succeeds without confinement, so its failure is due to confinement.
@Suite struct BreakOutTests {
  private func expectConfined(
    _ role: String, _ attempts: [String], _ settings: [String] = [], in world: ConfinedWorld,
    source: SourceLocation = #_sourceLocation
  ) throws {
    let free = try world.attempt(as: "none", attempts)
    #expect(free.succeeded == Set(attempts), "\(free)", sourceLocation: source)
    let confined = try world.attempt(as: role, attempts, settings)
    let possible = ConfinedWorld.possible(attempts, for: role)
    #expect(confined.succeeded == possible, "\(confined)", sourceLocation: source)
    #expect(
      confined.failed == Set(attempts).subtracting(possible), "\(confined)",
      sourceLocation: source)
    #expect(
      confined.off == ConfinedWorld.off(for: role), "\(confined)", sourceLocation: source)
  }

  @Test(arguments: ["capture", "extension"])
  func rolesCannotReadTheHostsFilesOrTheGroupsKeys(role: String) throws {
    let world = try ConfinedWorld()
    let store = world.group.containerPath + "/credentials"
    try FileManager.default.createDirectory(
      atPath: store + "/keys", withIntermediateDirectories: true)
    for name in ["index", "keys/host.key"] {
      try Data("sealed".utf8).write(to: URL(fileURLWithPath: store + "/" + name))
    }
    let attempts = [
      "read=\(world.secret)", "write=\(world.root.path)/new", "read=\(store)/keys/host.key",
      "list=/", "list=/tmp", "read=/proc/\(getpid())/environ",
    ]
    let onlyForCapture = ["read=\(store)/index", "list=\(store)"]
    try expectConfined(
      role, role == "capture" ? attempts + onlyForCapture : attempts, in: world)
    let free = world.group.streamsPath + "/mine"
    let outcome = try world.attempt(
      as: role, ["write=\(free)", "list=\(world.group.notifyPath)", "read=/etc/passwd"])
    #expect(outcome.failed.isEmpty, "\(outcome)")
  }

  /// The machine's files for name resolution and certificates are readable.
  @Test func extensionResolvesNamesAndTrustsTheMachinesCertificates() throws {
    let world = try ConfinedWorld()
    let attempts = [
      "read=/etc/hosts", "read=/etc/nsswitch.conf", "read=/etc/ssl/certs/ca-certificates.crt",
    ].filter { FileManager.default.fileExists(atPath: String($0.dropFirst("read=".count))) }
    let outcome = try world.attempt(as: "extension", attempts + ["list=/etc/ssl/certs"])
    #expect(outcome.failed.isEmpty, "\(outcome)")
    let lookup = try world.start("extension", ["/usr/bin/getent", "ahosts", "localhost"]).finish()
    #expect(
      lookup.output.contains("127.0.0.1") || lookup.output.contains("::1"), "\(lookup.output)")
  }

  @Test func captureCannotOpenNetworkSocketsEvenByIOURing() throws {
    let world = try ConfinedWorld()
    // 2 and 10: Internet; 16: netlink. The last is 2 for the kernel, which reads 32 bits, but not
    // for a filter that compares 64 bits.
    try expectConfined(
      "capture", ["socket=2", "socket=10", "socket=16", "socket=0x100000002", "ring"], in: world)
    #expect(try world.attempt(as: "capture", ["socket=1", "pair=1"]).failed.isEmpty)
    // The kernel refuses these arguments as well, but for another reason.
    #expect(try world.attempt(as: "capture", ["pair=2"]).attempts == ["pair=2": "EACCES"])
  }

  @Test func extensionCanOpenOnlyInternetSockets() throws {
    let world = try ConfinedWorld()
    try expectConfined("extension", ["socket=17", "ring"], in: world)
    let outcome = try world.attempt(
      as: "extension",
      ["socket=1", "socket=2", "socket=10", "socket=16", "socket=38", "socket=40"])
    #expect(outcome.failed == ["socket=38", "socket=40"], "\(outcome)")
  }

  @Test func extensionReachesNeitherDisplayNorSessionBus() throws {
    let world = try ConfinedWorld()
    let screen = try VirtualScreen()
    let display = "/tmp/.X11-unix/X" + screen.display.dropFirst()
    let bus = world.root.file("bus")
    let daemon = try RunningProgram(
      "dbus-daemon", ["--session", "--nofork", "--print-address", "--address=unix:path=\(bus)"])
    try daemon.waitForOutput("unix:path")
    try expectConfined(
      "extension", ["connect=\(display)", "abstract=\(display)", "connect=\(bus)"], in: world)
    let capture = try world.attempt(
      as: "capture", ["connect=\(display)", "connect=\(bus)"], ["display=\(screen.display)"])
    #expect(capture.succeeded == ["connect=\(display)"], "\(capture)")
    try daemon.end(with: SIGTERM)
  }

  /// The devices are ones that every machine has, under the names of graphics cards.
  @Test(.enabled(if: getuid() == 0, "only root can make devices"))
  func extensionOpensRenderNodesAloneAndIfItMay() throws {
    let world = try ConfinedWorld()
    let (node, screen) = (world.root.file("renderD128"), world.root.file("card0"))
    for path in [node, screen] { try output(of: "mknod", ["-m", "666", path, "c", "1", "3"]) }
    let attempts = ["read=\(node)", "write=\(node)", "write=\(screen)"]
    try expectConfined("extension", attempts, in: world)
    let allowed = try world.attempt(
      as: "extension", attempts + ["control=\(node)"], ["render-nodes=\(world.root.path)"])
    #expect(allowed.succeeded == ["read=\(node)", "write=\(node)"], "\(allowed)")
    // The device itself has no such call; the sandbox would refuse any.
    #expect(allowed.attempts["control=\(node)"] == "ENOTTY", "\(allowed)")
    #expect(allowed.off == ConfinedWorld.off(for: "extension"), "\(allowed)")
  }

  /// As each change of a user replaces /etc/passwd.
  @Test(.enabled(if: getuid() == 0, "only root has a directory of the system"))
  func fileThatTheSystemReplacesMeanwhileIsGranted() throws {
    let world = try ConfinedWorld()
    let folder = try output(of: "mktemp", ["-d", "-p", "/run"])
      .trimmingCharacters(in: .whitespacesAndNewlines)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let file = folder + "/file"
    try Data("its text".utf8).write(to: URL(fileURLWithPath: file))
    let system = try RunningProgram("/usr/bin/python3", ["-c", Self.replacing, file])
    try system.waitForOutput("began")
    for _ in 0..<20 {
      let role = try world.start("capture", ["/usr/bin/cat", file], ["grant=\(file)"]).finish()
      #expect(role.output.contains("its text"), "\(role)")
    }
    try system.end(with: SIGKILL)
  }

  private static let replacing = """
    import os, sys
    file = sys.argv[1]
    print("began", flush=True)
    while True:
        with open(file + ".new", "w") as new:
            new.write("its text")
        os.rename(file + ".new", file)
    """

  @Test(arguments: ["capture", "extension"])
  func rolesCannotAccessOtherProcesses(role: String) throws {
    let world = try ConfinedWorld()
    let sibling = try world.start(role, ["/usr/bin/sleep", "1000"])
    try sibling.waitForOutput("role ")
    let line = sibling.output.text.split(separator: "\n").last { $0.hasPrefix("role ") }
    let siblingID = try #require(Int32(line?.dropFirst("role ".count) ?? ""))
    for process in [getpid(), siblingID] {
      try expectConfined(
        role,
        [
          "peek=\(process)", "take=\(process)", "signal=\(process)", "limit=\(process)",
          "read=/proc/\(process)/maps",
        ],
        in: world)
    }
    // Last, because a tracer that exits takes the traced process along.
    try expectConfined(role, ["trace=\(siblingID)"], in: world)
    try sibling.end(with: SIGTERM)
  }

  @Test(arguments: ["capture", "extension"])
  func rolesCannotCreateNamespacesOrUseKeyringsOrSystemVObjects(role: String) throws {
    let world = try ConfinedWorld()
    try expectConfined(
      role, ["namespace", "clone", "keys", "shared", "semaphore", "queue"], in: world)
    // Older kernels do not have this call, so it need not succeed without confinement.
    #expect(try world.attempt(as: role, ["tree"]).attempts == ["tree": "EPERM"])
  }

  @Test(arguments: ["x32", "interrupt"])
  func callOfAnotherArchitectureKillsTheRole(way: String) throws {
    let world = try ConfinedWorld()
    let outcome = try world.attempt(as: "capture", [way])
    #expect(outcome.ending == "was ended by signal \(SIGSYS)", "\(outcome)")
  }

  @Test func roleHasOnlyListedDescriptorsVariablesAndRights() throws {
    let world = try ConfinedWorld()
    let pipe = try OneWayPipe()
    let environment = ["SECRET_OF_THE_HOST": "x", "FRAMEBUS_GROUP": "a.b"]
    let free = try world.attempt(as: "none", ["own"], environment: environment)
    #expect(free.own.contains("variable SECRET_OF_THE_HOST=x"))
    #expect(free.own.contains("new privileges"))
    let confined = try world.attempt(
      as: "capture", ["own"], environment: environment, inherited: [pipe.writeEnd.number])
    #expect(confined.own.allSatisfy { $0.hasPrefix("variable ") }, "\(confined)")
    #expect(confined.own.contains("variable FRAMEBUS_GROUP=a.b"))
    #expect(!confined.own.contains { $0.contains("SECRET") })
  }

  @Test func roleOverItsMemoryBudgetIsEndedAndTheHostSaysWhy() throws {
    let world = try ConfinedWorld()
    let outcome = try world.attempt(as: "extension", ["allocate=400"], ["memory=60"])
    #expect(outcome.ending.contains("exceeded its memory budget of 60 MiB"), "\(outcome)")
  }

  /// The child takes more than the budget and less than the kernel's own limit, so only the host's
  /// poll of the group can end it.
  @Test(.enabled(if: MemoryGroup.canBeMade, "needs memory cgroups"))
  func childrensMemoryCountsInTheBudget() throws {
    try withWatchdog {
      let world = try ConfinedWorld()
      let outcome = try world.attempt(as: "extension", ["child-allocate=68"], ["memory=60"])
      #expect(outcome.measures["children-memory"] == true, "\(outcome)")
      #expect(outcome.ending.contains("exceeded its memory budget of 60 MiB"), "\(outcome)")
    }
  }
}
