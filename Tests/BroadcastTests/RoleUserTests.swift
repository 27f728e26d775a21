import Foundation
import Platform
import TestSupport
import Testing

/// In a group whose roles have users of their own, a privileged host starts each role as its user.
@Suite(.enabled(if: TestUser.canBeCreated, "users can only be created by root"))
struct RoleUserTests {
  private let root: TemporaryRoot
  private let capturer: TestUser
  private let sender: TestUser
  private let programs: ReachablePrograms
  private static let secret = "token"

  private var location: [String] { ["--root", root.path, "--group", "a.b"] }

  /// The extension has a credential, and writes what it does into a file that does not exist yet.
  init() throws {
    root = try TemporaryRoot(mode: 0o755)
    capturer = try TestUser()
    sender = try TestUser()
    programs = try ReachablePrograms.shared.get()
    try framebus("group", "create", "a.b")
    try grant("capture", to: capturer)
    try grant("extension", to: sender)
    let pipe = try OneWayPipe()
    try writeFully(Array(Self.secret.utf8), to: pipe.writeEnd.number)
    let end = try pipe.readEnd.duplicate()
    _ = pipe.takeWriteEnd()
    let sealed = try RunningProgram(
      "framebus", location + ["credential", "add", "--recipient", "extension", "a.b", "c"],
      input: .descriptor(end.number)
    ).finish()
    #expect(sealed.status.isSuccess, "\(sealed.errors)")
    try register()
  }

  /// Registers the extension: again after a grant of the role host, whose holders read it.
  /// - Parameters:
  ///   - hasCredential: whether it has one, which only the group's owner can hand over.
  ///   - reads: paths that it reads.
  ///   - writes: outputs beside its own.
  private func register(
    hasCredential: Bool = true, reads: [String] = [], writes: [String] = []
  ) throws {
    let credential = hasCredential ? ["credential=a.b/c"] : []
    let arguments = ["extension", "trace=\(root.file("trace"))"] + credential
    try """
    version = 1
    id = "up"
    executable = "\(programs.path(of: "BroadcastWorker"))"
    arguments = \(arguments)
    credentials = \(hasCredential ? ["a.b/c"] : [])
    reads = \(reads)
    writes = \([root.file("trace")] + writes)
    """.write(toFile: root.file("up.toml"), atomically: true, encoding: .utf8)
    try framebus("extension", "register", root.file("up.toml"))
  }

  /// The output, for an extension whose host cannot create it.
  private func makeTrace() throws {
    try Data().write(to: URL(filePath: root.file("trace")))
    try output(of: "chown", ["\(sender.uid)", root.file("trace")])
  }

  @discardableResult
  private func framebus(_ arguments: String...) throws -> String {
    let result = try run("framebus", location + arguments)
    #expect(result.status.isSuccess, "\(result.errors)")
    return result.output
  }

  private func grant(_ role: String, to user: TestUser) throws {
    try framebus("group", "grant", role, "--uid", "\(user.uid)")
  }

  private func start(_ options: String..., source: String = "test:gradient") -> [String] {
    let size = source.hasPrefix("test") ? ["--size", "64x48"] : []
    return location + ["broadcast", "start", "up", "--yes", "--source", source] + size + options
  }

  private func roles() throws -> [String: [String: Any]] {
    let text = try framebus("broadcast", "status", "--json")
    let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    return try #require(object?["roles"] as? [String: [String: Any]], "\(text)")
  }

  /// The process of a role runs as the user and has no privilege.
  private func expect(
    _ role: String, runsAs user: TestUser, groups: [UInt32] = [], boundingSet: String = none,
    in roles: [String: [String: Any]]
  ) throws {
    let pid = try #require(roles[role]?["pid"] as? Int)
    let status = ProcessFacts(Int32(pid)).shown("status")
    func field(_ name: String) -> [String] {
      let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") } ?? ""
      return line.split(whereSeparator: \.isWhitespace).dropFirst().map(String.init)
    }
    #expect(field("Uid") == Array(repeating: "\(user.uid)", count: 4), "\(role): \(status)")
    #expect(field("Gid") == Array(repeating: "\(user.gid)", count: 4), "\(role): \(status)")
    #expect(field("Groups") == (groups + [user.gid]).sorted().map { "\($0)" }, "\(status)")
    for name in ["CapInh", "CapPrm", "CapEff", "CapAmb"] { #expect(field(name) == [Self.none]) }
    #expect(field("CapBnd") == [boundingSet])
    #expect(field("NoNewPrivs") == ["1"])
    #expect(field("Seccomp") == ["2"])
  }

  private static let none = "0000000000000000"

  /// What a host has that no role of another user may have.
  private static let environmentOfHost = [
    "SECRET": "/of-the-host", "XDG_CONFIG_HOME": "/of-the-host",
    "DBUS_SESSION_BUS_ADDRESS": "unix:path=/of-the-host",
  ]

  /// Starts a host on a terminal, to which it writes.
  private func startOnTerminal(_ options: String...) throws -> RunningProgram {
    let words = [tool("on_terminal.py"), try programs.path(of: "framebus")] + start() + options
    return try programs.start("python3", words, environment: Self.environmentOfHost)
  }

  /// The process of a role has the home of its user, and neither its host's variables nor terminal.
  private func expect(
    _ role: String, hasOnlyWhatBelongsTo user: TestUser, in roles: [String: [String: Any]]
  ) throws {
    let facts = ProcessFacts(Int32(try #require(roles[role]?["pid"] as? Int)))
    let variables = facts.shown("environ").split(separator: "\0")
    #expect(variables.contains("USER=\(user.name)"), "\(role): \(variables)")
    #expect(!variables.contains { $0.contains("of-the-host") }, "\(role): \(variables)")
    // Of proc(5): the terminal, after the name in parentheses.
    let stat = facts.shown("stat")
    let fields = stat[(stat.lastIndex(of: ")") ?? stat.startIndex)...].split(separator: " ")
    #expect(fields[5] == "0", "\(role): \(stat)")
  }

  private func waitForVideo(_ host: RunningProgram) throws {
    try waitUntil("samples arrive: \(host.transcript)") {
      let trace = try? String(contentsOfFile: root.file("trace"), encoding: .utf8)
      return trace?.contains("video") == true
    }
  }

  private func confinement(of role: String, in roles: [String: [String: Any]]) throws -> String {
    try #require(roles[role]?["confinement"] as? String, "\(roles)")
  }

  @Test func rootStartsEachRoleAsItsUserConfinedInFull() throws {
    try withWatchdog {
      // One who may start broadcasts, too, is not the user of a role that has one of its own.
      let manager = try TestUser()
      for role in ["host", "capture", "extension"] { try grant(role, to: manager) }
      try output(of: "usermod", ["--append", "--groups", "audio", capturer.name])
      let audio = try output(of: "getent", ["group", "audio"]).split(separator: ":")
      let host = try startOnTerminal()
      try waitForVideo(host)
      let roles = try roles()
      try expect("capture", runsAs: capturer, groups: [UInt32(audio[2]) ?? 0], in: roles)
      try expect("extension", runsAs: sender, in: roles)
      try expect("capture", hasOnlyWhatBelongsTo: capturer, in: roles)
      try expect("extension", hasOnlyWhatBelongsTo: sender, in: roles)
      for role in ["capture", "extension"] {
        let how = try confinement(of: role, in: roles)
        #expect(!how.contains("user") && !how.contains("private"), "\(role): \(how)")
      }
      let trace = try String(contentsOfFile: root.file("trace"), encoding: .utf8)
      #expect(trace.contains("credential \(Self.secret.utf8.count)\n"), "\(trace)")
      let files = FileManager.default
      let owner = try files.attributesOfItem(atPath: root.file("trace"))[.ownerAccountID]
      #expect(owner as? Int == Int(sender.uid))
      try framebus("broadcast", "stop")
      #expect(try host.finish().status == .exited(0), "\(host.transcript)")
      let logs = root.file("state/a.b/logs")
      let owners = try files.contentsOfDirectory(atPath: logs).map {
        try files.attributesOfItem(atPath: "\(logs)/\($0)")[.ownerAccountID] as? Int
      }
      #expect(Set(owners).isSuperset(of: [0, Int(capturer.uid), Int(sender.uid)]), "\(owners)")
    }
  }

  @Test func unconfinedRolesHaveTheirUsersToo() throws {
    try withWatchdog {
      try makeTrace()
      let host = try startOnTerminal("--no-confine")
      try waitForVideo(host)
      let roles = try roles()
      for (role, user) in [("capture", capturer), ("extension", sender)] {
        try expect(role, hasOnlyWhatBelongsTo: user, in: roles)
        let pid = try #require(roles[role]?["pid"] as? Int)
        let status = ProcessFacts(Int32(pid)).shown("status")
        #expect(status.contains("Uid:\t\(user.uid)\t\(user.uid)\t\(user.uid)\t\(user.uid)\n"))
        for line in ["CapPrm:\t\(Self.none)\n", "CapBnd:\t\(Self.none)\n", "NoNewPrivs:\t1\n"] {
          #expect(status.contains(line), "\(role): \(status)")
        }
      }
      try framebus("broadcast", "stop")
      #expect(try host.finish().status == .exited(0), "\(host.transcript)")
    }
  }

  /// Its keyring, and a directory that others cannot reach.
  @Test func unconfinedRoleHasNothingOfItsHostsSession() throws {
    try withWatchdog {
      let directory = root.file("vault/work")
      try FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: true)
      try output(of: "chmod", ["0700", root.file("vault")])
      try Data().write(to: URL(filePath: directory + "/secret"))
      let calls = """
        import ctypes, os, platform, sys
        add, keyctl = (217, 219) if platform.machine() == "aarch64" else (248, 250)
        call = ctypes.CDLL(None).syscall
        """
      let look = """
        key = call(keyctl, 10, -3, b"user", b"framebus-test", 0)
        print(f"key {key >= 0}, files {os.listdir()}", file=sys.stderr)
        """
      try """
      version = 1
      id = "up"
      executable = "/usr/bin/python3"
      arguments = \(["-c", calls + "\n" + look])
      """.write(toFile: root.file("up.toml"), atomically: true, encoding: .utf8)
      try framebus("extension", "register", root.file("up.toml"))
      let begin = """
        call(keyctl, 1, None)
        call(add, b"user", b"framebus-test", b"s3cret", 6, -3)
        os.execv(sys.argv[1], sys.argv[1:])
        """
      let host = try RunningProgram(
        "/usr/bin/python3",
        ["-c", calls + "\n" + begin, programs.path(of: "framebus")] + start("--no-confine"),
        environment: ["LD_LIBRARY_PATH": programs.libraryPath], directory: directory)
      try waitUntil("the extension has looked: \(host.transcript)") {
        try framebus("log").contains(", files [")
      }
      let log = try framebus("log")
      #expect(log.contains("key False, files [") && !log.contains("secret"), "\(log)")
      host.process.send(signal: Signal.interrupt)
      _ = try host.finish()
    }
  }

  /// The role's user can exchange what lies in its own directory.
  @Test func linksOfARolesUserLeadToNothingThatItCannotReach() throws {
    try withWatchdog {
      let files = FileManager.default
      for (folder, mode) in [("vault", 0o700), ("open", 0o755), ("own", 0o755)] {
        try files.createDirectory(atPath: root.file(folder), withIntermediateDirectories: false)
        try files.setAttributes([.posixPermissions: mode], ofItemAtPath: root.file(folder))
        try Data("x".utf8).write(to: URL(filePath: root.file(folder + "/key")))
      }
      for (link, target) in [("vault", "vault"), ("open", "open"), ("key", "vault/key")] {
        try files.createSymbolicLink(
          atPath: root.file("own/to-\(link)"), withDestinationPath: root.file(target))
      }
      try output(of: "chown", ["--recursive", "--no-dereference", sender.name, root.file("own")])
      try register(
        reads: ["own/to-vault/key", "own/to-open", "own/to-key"].map(root.file),
        writes: ["own/to-vault/new", "own/to-vault/folder/", "own/to-key"].map(root.file))
      let host = try programs.start("framebus", start())
      try waitForVideo(host)
      let pid = try #require(roles()["extension"]?["pid"] as? Int)
      func isVisible(_ name: String) -> Bool {
        // It follows no link, which would lead out of that root.
        (try? files.attributesOfItem(atPath: "/proc/\(pid)/root" + root.file(name))) != nil
      }
      #expect(isVisible("trace") && isVisible("own/to-open") && isVisible("open/key"))
      for name in ["vault", "vault/key", "own/to-vault", "own/to-key"] {
        #expect(!isVisible(name), "\(name)")
      }
      #expect(try files.contentsOfDirectory(atPath: root.file("vault")) == ["key"])
      #expect(try framebus("log").contains("the extension cannot write"))
      #expect(try host.end(with: Signal.interrupt).status == .exited(130), "\(host.transcript)")
    }
  }

  /// With three capabilities instead of all; its roles have no private network then.
  @Test func hostWithCapabilitiesStartsAndStopsRolesAsTheirUsers() throws {
    try withWatchdog {
      let user = try TestUser()
      try grant("host", to: user)
      let capabilities = "+setuid,+setgid,+kill"
      let libraries = programs.libraryPath.map { ["LD_LIBRARY_PATH=\($0)"] } ?? []
      let command =
        [
          "--reuid=\(user.uid)", "--regid=\(user.gid)", "--clear-groups",
          "--inh-caps=-all,\(capabilities)", "--ambient-caps=-all,\(capabilities)", "env",
          "HOME=/nonexistent",
        ] + libraries + [try programs.path(of: "framebus")] + start()
      try register(hasCredential: false)
      try makeTrace()
      let host = try RunningProgram("setpriv", command, directory: "/")
      try waitForVideo(host)
      let roles = try roles()
      let bounding =
        ProcessFacts.own.shown("status").split(separator: "\n")
        .first { $0.hasPrefix("CapBnd:") }?.split(separator: "\t").last ?? ""
      try expect("capture", runsAs: capturer, boundingSet: String(bounding), in: roles)
      try expect("extension", runsAs: sender, boundingSet: String(bounding), in: roles)
      #expect(try !confinement(of: "capture", in: roles).contains("user"))
      #expect(try host.end(with: Signal.interrupt).status == .exited(130), "\(host.transcript)")
      let left = try self.roles().values.filter { $0["pid"] is Int }
      #expect(left.isEmpty, "\(left)")
    }
  }

  /// It may run all roles itself, which is weaker than the manifest permits.
  @Test func unprivilegedHostSaysWhatIsWeakerAndRefusesItIfRequired() throws {
    try withWatchdog {
      let user = try TestUser()
      for role in ["host", "capture", "extension"] { try grant(role, to: user) }
      try register(hasCredential: false)
      let required = try user.run("framebus", start("--require-confinement"))
      #expect(required.status == .exited(1))
      #expect(required.errors.contains("user is off, its host’s, because only root"))
      let host = try user.start("framebus", start())
      try host.waitForErrors("capture is confined in part: on, without user")
      var found: Int?
      try waitUntil("it publishes: \(host.transcript)") {
        found = try roles()["capture"]?["pid"] as? Int
        return found != nil
      }
      let pid = try #require(found)
      #expect(ProcessFacts(Int32(pid)).shown("status").contains("Uid:\t\(user.uid)\t"))
      try framebus("broadcast", "stop")
      _ = try host.finish()
    }
  }

  @Test func unprivilegedHostWithoutTheRolesSaysWhoHasThem() throws {
    try withWatchdog {
      let user = try TestUser()
      try grant("host", to: user)
      try register(hasCredential: false)
      let result = try user.run("framebus", start())
      #expect(result.status == .exited(1))
      #expect(
        result.errors.contains("as uid \(user.uid) (\(user.name)), who does not hold that role"),
        "\(result.errors)")
      #expect(
        result.errors.contains("uid \(sender.uid) (\(sender.name)) should"), "\(result.errors)")
    }
  }

  #if Media
    /// The server admits only clients that have its cookie.
    @Test func captureThatItsDisplayRefusesSaysWhatIsNeeded() throws {
      try withWatchdog {
        let cookies = root.file("cookies")
        func add(_ display: String) throws {
          let cookie = String(repeating: "5a", count: 16)
          try output(of: "xauth", ["-q", "-f", cookies, "add", display, ".", cookie])
        }
        try add(":0")
        let screen = try VirtualScreen(width: 64, height: 48, options: ["-auth", cookies])
        try add(screen.display)
        let source = "screen:\(screen.display)"
        let environment = screen.environment.merging(["XAUTHORITY": cookies]) { $1 }
        func start() throws -> RunningProgram {
          try programs.start("framebus", self.start(source: source), environment: environment)
        }
        let refused = try start().finish()
        #expect(refused.status == .exited(1))
        for text in [
          "refuses uid \(capturer.uid)", "set XAUTHORITY to a file", "`xhost +SI:localuser:",
        ] {
          #expect(refused.errors.contains(text), "\(refused.errors)")
        }
        // The number if the sandbox cannot read the name.
        let users = [capturer.name, "#\(capturer.uid)"]
        #expect(
          users.contains { refused.errors.contains("localuser:\($0)`") }, "\(refused.errors)")
        try? FileManager.default.removeItem(atPath: root.file("trace"))
        try output(of: "chown", [capturer.name, cookies])
        let host = try start()
        try waitForVideo(host)
        try expect("capture", runsAs: capturer, in: try roles())
        #expect(try host.end(with: Signal.interrupt).status == .exited(130), "\(host.transcript)")
      }
    }
  #endif
}
