// swift-tools-version: 6.2
import PackageDescription

// What a module may import stands here alone: Tests/Tidy reads it from the manifest, and compares
// the layers of docs/ARCHITECTURE.md with it. The modules marked * there are empty without the
// package trait Media: the core then builds and links without media libraries.

let strict: [SwiftSetting] = [
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
  .enableExperimentalFeature("Lifetimes"),
  // A closure that captures weakly is then not checked for exclusive access at each call.
  .enableUpcomingFeature("ImmutableWeakCaptures"),
]
/// Lets tests use internals: scripts/builds sets the variable. Only for the product's modules,
/// because the compiler then keeps code that it would leave out.
let testable: [SwiftSetting] =
  Context.environment["FRAMEBUS_TESTABLE"] == nil ? [] : [.unsafeFlags(["-enable-testing"])]
/// The commit for `framebus --version`: scripts/install sets it. Only the C file that returns it is
/// then compiled again.
let commit: [CSetting] =
  Context.environment["FRAMEBUS_COMMIT"].map { [.define("FRAMEBUS_COMMIT", to: "\"\($0)\"")] } ?? []
let strictC: [CSetting] = [.treatAllWarnings(as: .error)]
let whenMedia: CSetting = .define("FRAMEBUS_MEDIA", .when(traits: ["Media"]))

func media(_ name: String) -> Target.Dependency {
  .target(name: name, condition: .when(traits: ["Media"]))
}
func mediaLibraries(_ names: String...) -> [LinkerSetting] {
  names.map { .linkedLibrary($0, .when(traits: ["Media"])) }
}
let argumentParser: Target.Dependency = .product(
  name: "ArgumentParser", package: "swift-argument-parser")
let gstreamer = media("CGStreamerSystem")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")

func fuzzer(_ name: String, of modules: Target.Dependency...) -> Target {
  .executableTarget(
    name: "Fuzz\(name)",
    dependencies: modules + ["FrameBus", "Platform", "CFrameLayout", "CFuzzer", "FuzzSupport"],
    path: "Fuzz/\(name)", swiftSettings: strict)
}

/// The folders of Sources and Tests that hold modules of one kind.
enum Family: String {
  case core = ""
  case c = "C/"
  case media = "Media/"
  case adapters = "Adapters/"
  case programs = "Programs/"
}
/// A module of the product.
func module(
  _ name: String, in family: Family = .core, _ dependencies: [Target.Dependency],
  resources: [Resource]? = nil
) -> Target {
  .target(
    name: name, dependencies: dependencies, path: "Sources/\(family.rawValue)\(name)",
    resources: resources, swiftSettings: strict + testable)
}
/// Declarations and code in C, which a module uses.
func cModule(
  _ name: String, _ dependencies: [Target.Dependency] = [], cSettings: [CSetting] = [],
  linkerSettings: [LinkerSetting] = [], exclude: [String] = []
) -> Target {
  .target(
    name: name, dependencies: dependencies, path: "Sources/C/\(name)", exclude: exclude,
    cSettings: strictC + cSettings, linkerSettings: linkerSettings)
}
/// A library of the system, with the packages of Debian that hold its headers.
func systemModule(_ name: String, pkgConfig: String? = nil, apt: [String]) -> Target {
  .systemLibrary(
    name: name, path: "Sources/C/\(name)", pkgConfig: pkgConfig, providers: [.apt(apt)])
}
func library(_ name: String) -> Product { .library(name: name, targets: [name]) }
/// A program of the product.
func program(
  _ name: String, in family: Family = .programs, _ dependencies: [Target.Dependency]
) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies, path: "Sources/\(family.rawValue)\(name)",
    swiftSettings: strict)
}
/// Tests that start real processes, those among the dependencies. All use Platform and TestSupport.
/// Not optimised: compiled sooner.
func tests(
  _ name: String, in family: Family = .core, _ dependencies: [Target.Dependency] = [],
  exclude: [String] = []
) -> Target {
  .testTarget(
    name: name, dependencies: dependencies + ["Platform", "TestSupport"],
    path: "Tests/\(family.rawValue)\(name)", exclude: exclude,
    swiftSettings: strict + [.unsafeFlags(["-Onone"])])
}
func testTrait(_ name: String, _ description: String) -> Trait {
  .trait(name: name, description: "For the tests alone: " + description)
}
/// A program that tests start. All use Platform and WorkerSupport.
func worker(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies + ["Platform", "WorkerSupport"],
    path: "Tests/Programs/\(name)", swiftSettings: strict)
}
/// The same, in C: what no rule of ours holds back.
func cProgram(
  _ name: String, _ dependencies: [Target.Dependency] = [], linking libraries: String...
) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies, path: "Tests/Programs/\(name)", cSettings: strictC,
    linkerSettings: libraries.map { .linkedLibrary($0, .when(traits: ["Media"])) })
}
/// A part of the product as it is measured: in a user's program.
func subject(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies, path: "Benchmarks/\(name)",
    swiftSettings: [.treatAllWarnings(as: .error)])
}
/// The bare primitive that it is measured beside.
func bare(
  _ name: String, _ dependencies: [Target.Dependency], linking libraries: String...
) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies, path: "Benchmarks/\(name)",
    cSettings: strictC + [whenMedia],
    linkerSettings: libraries.map { .linkedLibrary($0, .when(traits: ["Media"])) })
}

/// What the members of a group share: the library, in Swift and in C.
let shared = [
  "FrameBus", "AppGroup", "CredentialStore", "GroupSemaphores", "NotifyCenter", "SharedDefaults",
  "SharedLog",
]

/// The product's programs, which tests start.
let programs: [Target.Dependency] = [
  "BusCLI", "BridgeProgram", "CaptureProgram", "CaptureGStreamerProgram", "ConfineProgram",
  "UploadProgram", "ViewProgram",
]

let package = Package(
  name: "FrameBus",
  products: [
    .library(name: "FrameBus", targets: shared),
    library("Broadcast"), library("DarwinNotifications"), library("DarwinKeychain"),
    library("FoundationDefaults"), library("SharedLogHandler"), library("LogSinks"),
    .library(name: "ScreenRecorder", targets: ["ScreenRecorder", "Capture"]),
    .library(name: "CInterface", type: .static, targets: ["CInterface"]),  // scripts/library
    .executable(name: "framebus", targets: ["BusCLI"]),
    .executable(name: "framebus-bridge", targets: ["BridgeProgram"]),
    .executable(name: "framebus-capture", targets: ["CaptureProgram"]),
    .executable(name: "framebus-capture-gstreamer", targets: ["CaptureGStreamerProgram"]),
    .executable(name: "framebus-upload", targets: ["UploadProgram"]),
    .executable(name: "framebus-view", targets: ["ViewProgram"]),
    .executable(name: "framebus-confine", targets: ["ConfineProgram"]),
  ],
  traits: [
    .trait(
      name: "Media",
      description: "Screens (XCB, Wayland), encoding (GStreamer), other machines (NATS)."),
    testTrait("CrashPoints", "named points at which a process can be made to die."),
    testTrait("ThreadSanitizer", "what ThreadSanitizer cannot see is done so that it can."),
    testTrait("Fuzzing", "the programs of Fuzz/ make up inputs (scripts/fuzz)."),
    .default(enabledTraits: ["Media"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    // 1.13 is the first with attributes of metadata (SLG-0004), by which a value is private.
    .package(url: "https://github.com/apple/swift-log", from: "1.13.0"),
  ],
  targets: [
    // L0: C
    cModule("CChecksum"), cModule("CFrameBus"), cModule("CFrameLayout"), cModule("CLogLayout"),
    cModule("CNotifyLayout"), cModule("CSemaphoreLayout"), cModule("CLinuxShims"),
    cModule("CSessionBus"), cModule("CVideo4Linux"), cModule("CVersion", cSettings: commit),
    cModule("CURing", linkerSettings: [.linkedLibrary("uring")]),
    systemModule("CSodium", pkgConfig: "libsodium", apt: ["libsodium-dev"]),
    systemModule("CSeccomp", pkgConfig: "libseccomp", apt: ["libseccomp-dev"]),
    systemModule("CQR", apt: ["libqrencode-dev"]),
    systemModule(
      "CXCB",
      pkgConfig: "xcb xcb-composite xcb-damage xcb-randr xcb-screensaver xcb-shm xcb-xfixes",
      apt: ["1", "-composite0", "-damage0", "-randr0", "-screensaver0", "-shm0", "-xfixes0"]
        .map { "libxcb\($0)-dev" }),
    systemModule(
      "CGStreamerSystem", pkgConfig: "gstreamer-app-1.0 gstreamer-audio-1.0 gstreamer-video-1.0",
      apt: [
        "libgstreamer1.0-dev", "libgstreamer-plugins-base1.0-dev",
        "libgstreamer-plugins-bad1.0-dev", "libyuv-dev",
      ]),
    systemModule("CPipeWireSystem", pkgConfig: "libpipewire-0.3", apt: ["libpipewire-0.3-dev"]),
    cModule("CPipeWire", [media("CPipeWireSystem")]),
    cModule(
      "CGStreamer", [gstreamer],
      linkerSettings: mediaLibraries("yuv", "gstrtp-1.0", "gio-2.0")),
    cModule(
      "CWebRTC", ["CGStreamer", gstreamer], cSettings: [whenMedia],
      linkerSettings: mediaLibraries("gstwebrtc-1.0", "gstsdp-1.0", "crypto")),
    cModule("CCurl", cSettings: [whenMedia], linkerSettings: mediaLibraries("curl")),
    cModule("CHTTPServer", cSettings: [whenMedia], linkerSettings: mediaLibraries("microhttpd")),
    cModule("CNATS", cSettings: [whenMedia], linkerSettings: mediaLibraries("nats", "ssl")),
    cModule(
      "CWayland", cSettings: [whenMedia], linkerSettings: mediaLibraries("wayland-client"),
      exclude: ["Protocols"]),

    // L1 … L3: the core
    module("Platform", ["CLinuxShims", "CURing"]), module("AppGroup", ["Platform"]),
    module("FrameBus", ["AppGroup", "CChecksum", "CFrameLayout", "Platform"]),
    module("GroupSemaphores", ["AppGroup", "CSemaphoreLayout", "Platform"]),
    module("CredentialStore", ["AppGroup", "CSodium", "Platform"]),
    module("NotifyCenter", ["AppGroup", "CNotifyLayout", "Platform"]),
    module("SharedDefaults", ["AppGroup", "CChecksum", "Platform"]),
    module("SharedLog", ["AppGroup", "CChecksum", "CLogLayout", "Platform"]),
    module("Confinement", ["AppGroup", "Platform"]),

    // L4: other machines, adapters, and media
    module(
      "Bridge",
      ["AppGroup", "FrameBus", "NotifyCenter", "Platform", "SharedDefaults", "SharedLog"]),
    module(
      "BridgeNATS",
      shared.filter { $0 != "CredentialStore" }.map { .target(name: $0) } + [
        "Bridge", "CNATS", "Platform",
      ]),
    module("DarwinNotifications", in: .adapters, ["NotifyCenter", "AppGroup", "Platform"]),
    module("DarwinKeychain", in: .adapters, ["CredentialStore", "AppGroup", "Platform"]),
    module("FoundationDefaults", in: .adapters, ["SharedDefaults"]),
    module("SharedLogHandler", in: .adapters, ["SharedLog", logging]),
    module("LogSinks", in: .adapters, ["SharedLog", "Platform"]),
    module(
      "CInterface", in: .adapters, shared.map { .target(name: $0) } + ["CFrameBus", "Platform"]),
    module("GStreamerLog", in: .adapters, ["SharedLog", "CGStreamer", gstreamer]),
    module("FrontApplication", in: .media, ["AppGroup", "FrameBus", "SharedDefaults"]),
    module("Replay", in: .media, ["FrameBus", "Platform"]),
    module(
      "Capture", in: .media,
      ["AppGroup", "FrameBus", "NotifyCenter", "Platform", "SharedDefaults", "Sound"]),
    module("CaptureCamera", in: .media, ["Capture", "FrameBus", "Platform", "CVideo4Linux"]),
    module(
      "ScreenCast", in: .media,
      ["AppGroup", "CredentialStore", "FrameBus", "Platform", "CSessionBus"]),
    module(
      "CapturePipeWire", in: .media,
      ["Capture", "CredentialStore", "FrameBus", "Platform", "ScreenCast", "Sound", "CPipeWire"]),
    module("CaptureX11", in: .media, ["Capture", "FrameBus", "Platform", media("CXCB")]),
    module("CaptureWayland", in: .media, ["Capture", "FrameBus", "Platform", "CWayland"]),
    module(
      "CaptureGStreamer", in: .media,
      [
        "Capture", "FrameBus", "Platform", "Sound", "WHIP", "WebRTC", "CGStreamer", "CWebRTC",
        gstreamer,
      ]),
    module(
      "ScreenRecorder", in: .media, ["AppGroup", "Capture", "CaptureX11", "FrameBus", "Platform"]),
    module("Recording", in: .media, ["AppGroup", "FrameBus", "Platform"]),
    module("Sound", in: .media, ["AppGroup", "FrameBus", "Platform", "SharedDefaults"]),
    module("Upload", in: .media, ["AppGroup", "FrameBus", "Platform", "Sound"]),
    module("WHIP", in: .media, ["CredentialStore", "Platform", "CCurl"]),
    module("WebRTC", in: .media, ["WHIP", "Platform", "CGStreamer", "CWebRTC", gstreamer]),
    module(
      "UploadGStreamer", in: .media,
      [
        "Upload", "WHIP", "WebRTC", "FrameBus", "Platform", "Replay", "Sound", "CGStreamer",
        "CWebRTC", gstreamer,
      ]),
    module("CameraGrant", in: .media, ["Platform", "CPipeWire"]),
    module(
      "UploadCamera", in: .media,
      ["Upload", "FrameBus", "Platform", "CGStreamer", "CPipeWire", "CVideo4Linux"]),
    module(
      "LivePage", in: .media, ["WHIP", "Platform", "CHTTPServer", media("CQR")],
      resources: [.embedInCode("Resources")]),

    // L5: what ties the core together
    module(
      "Broadcast",
      [
        "AppGroup", "CameraGrant", "Capture", "Confinement", "CredentialStore", "FrameBus",
        "FrontApplication", "NotifyCenter", "Platform", "ScreenCast", "SharedDefaults", "SharedLog",
        "Sound", "Upload", "CSessionBus",
      ]),

    // L6: programs
    module(
      "CommandLineSupport", in: .programs,
      [
        "AppGroup", "Capture", "Confinement", "FrameBus", "FrontApplication", "LogSinks", "Upload",
        "NotifyCenter", "Platform", "SharedDefaults", "SharedLog", "Sound", "CVersion",
        argumentParser,
      ]),
    module(
      "Bench", in: .programs,
      ["CommandLineSupport", "AppGroup", "CaptureCamera", "Platform", "SharedDefaults"]),
    program(
      "BusCLI", in: .core,
      [
        "Bench", "Bridge", "Broadcast", "Capture", "CommandLineSupport", "Confinement", "Recording",
        "Upload", "AppGroup", "CredentialStore", "FoundationDefaults", "FrameBus",
        "GroupSemaphores", "Sound",
        "NotifyCenter", "Platform", "Replay", "ScreenCast", "SharedDefaults", "SharedLog",
        argumentParser,
      ]),
    program(
      "BridgeProgram",
      [
        "Bridge", "BridgeNATS", "CommandLineSupport", "AppGroup", "CredentialStore", "NotifyCenter",
        "Platform", argumentParser,
      ]),
    program(
      "CaptureProgram",
      [
        "CommandLineSupport", "Capture", "CaptureCamera", "CapturePipeWire", "CaptureWayland",
        "CaptureX11", "AppGroup", "FrameBus", "Platform", argumentParser,
      ]),
    program(
      "CaptureGStreamerProgram",
      [
        "CommandLineSupport", "Capture", "CaptureCamera", "CaptureGStreamer", "CredentialStore",
        "GStreamerLog", "AppGroup", "Broadcast", "FrameBus", "Platform", "WHIP", argumentParser,
      ]),
    program(
      "UploadProgram",
      [
        "Broadcast", "CommandLineSupport", "Upload", "UploadGStreamer", "UploadCamera", "WHIP",
        "GStreamerLog", "CredentialStore", "SharedDefaults", "SharedLog", "Sound", "AppGroup",
        "FrameBus", "Platform", "Replay", argumentParser,
      ]),
    program(
      "ViewProgram",
      [
        "CommandLineSupport", "Upload", "UploadGStreamer", "LivePage", "WHIP", "GStreamerLog",
        "CredentialStore", "SharedLog", "AppGroup", "FrameBus", "Platform", argumentParser,
      ]),
    .executableTarget(
      name: "ConfineProgram", dependencies: ["CSeccomp"], path: "Sources/Programs/ConfineProgram",
      cSettings: strictC),

    // Benchmarks: what the suites of Bench compare with
    bare("BareGrab", [media("CXCB")]), bare("BareSodium", ["RingKit", "CSodium"]),
    subject("UserSettings", ["RingKit"]),
    .target(name: "RingKit", path: "Benchmarks/RingKit", cSettings: strictC),
    .target(name: "NumberKit", path: "Benchmarks/NumberKit", cSettings: strictC),
    bare("BareWayland", ["NumberKit", "CWayland"]),
    .target(
      name: "LinkKit", dependencies: ["RingKit"], path: "Benchmarks/LinkKit", cSettings: strictC),
    .executableTarget(
      name: "BareNATS", dependencies: ["LinkKit", "RingKit"], path: "Benchmarks/BareNATS",
      cSettings: strictC + [whenMedia], linkerSettings: mediaLibraries("nats")),
    bare("BareNode", ["NumberKit", media("CPipeWireSystem")], linking: "pipewire-0.3"),
    bare("BareRing", ["RingKit"]), bare("BareDatagram", ["RingKit"]),
    bare("BareFutex", ["RingKit"]), bare("BareLog", ["LogKit"]), bare("BareWatch", ["RingKit"]),
    .target(name: "LogKit", path: "Benchmarks/LogKit", cSettings: strictC),
    .target(
      name: "SubjectKit", dependencies: ["RingKit", "LogKit", "SharedLog", "AppGroup", "Platform"],
      path: "Benchmarks/SubjectKit", swiftSettings: [.treatAllWarnings(as: .error)]),
    subject("BusCredential", ["SubjectKit", "RingKit", "CredentialStore"]),
    subject("BusLog", ["SubjectKit", "LogKit", "SharedLog"]),
    subject("BusLogger", ["SubjectKit", "LogKit", "SharedLog", "SharedLogHandler", logging]),
    subject("BusLogReader", ["SubjectKit", "SharedLog", "AppGroup", "Platform"]),
    subject("BusNotify", ["SubjectKit", "RingKit", "NotifyCenter"]),
    subject(
      "BusLink",
      ["SubjectKit", "RingKit", "LinkKit", "NotifyCenter", "AppGroup", "Bridge", "Platform"]),
    subject("BusDefaults", ["SubjectKit", "RingKit", "SharedDefaults"]),
    subject("BusRing", ["SubjectKit", "RingKit", "FrameBus", "AppGroup"]),
    subject(
      "BusViewer", ["SubjectKit", "NumberKit", "Capture", "FrameBus", "AppGroup", "Platform"]),
    .target(
      name: "LiveKit", dependencies: [gstreamer], path: "Benchmarks/LiveKit",
      cSettings: strictC + [whenMedia],
      linkerSettings: mediaLibraries("gstwebrtc-1.0", "gstsdp-1.0")),
    bare("LiveReceiver", ["LiveKit"]),
    subject("BareUpload", ["LiveKit", "CGStreamer", "Capture", "FrameBus", "Platform"]),

    // Fuzzing of all that reads what another process wrote: one program a parser
    .target(
      name: "CFuzzer", path: "Fuzz/CFuzzer",
      cSettings: strictC + [.define("FUZZING", .when(traits: ["Fuzzing"]))]),
    .target(
      name: "FuzzSupport", dependencies: ["FrameBus", "AppGroup", "Platform", "TestSupport"],
      path: "Fuzz/Support", swiftSettings: strict),
    fuzzer("Requests"), fuzzer("Welcomes"), fuzzer("Records"), fuzzer("Replays", of: "Replay"),
    fuzzer("Recordings", of: "Recording"), fuzzer("Letters", of: "NotifyCenter"),
    fuzzer("Credentials", of: "CredentialStore"), fuzzer("Settings", of: "SharedDefaults"),
    fuzzer("Logs", of: "SharedLog"), fuzzer("Descriptions", of: "WHIP"),
    fuzzer("Drivers", of: "CaptureCamera", "Capture", "FuzzFakeDriver"),
    .target(name: "FuzzFakeDriver", path: "Fuzz/FakeDriver", cSettings: strictC),
    fuzzer("Compositors", of: "CaptureWayland", "Capture", "CWayland", "CPlayedCompositor"),
    .target(name: "CPlayedCompositor", path: "Fuzz/CPlayedCompositor", cSettings: strictC),
    fuzzer("Portal", of: "CPortalKit"),
    .target(
      name: "CPortalKit", dependencies: ["CPipeWireSystem"], path: "Fuzz/PortalKit",
      cSettings: ["CPipeWire", "CPipeWire/include", "CSessionBus", "CSessionBus/include"]
        .map { .headerSearchPath("../../Sources/C/\($0)") }),
    fuzzer("BridgeMessages", of: "Bridge"), fuzzer("Playlists", of: "Capture"),
    fuzzer("Answers", of: "WHIP", "CredentialStore"), fuzzer("Guard", of: "CNATS"),

    // Tests, of real processes
    .target(
      name: "TestSupport", dependencies: ["Platform"], path: "Tests/Support",
      swiftSettings: strict),
    .target(
      name: "WorkerSupport", dependencies: ["Platform"], path: "Tests/Programs/WorkerSupport",
      swiftSettings: strict),
    .testTarget(name: "TidyTests", path: "Tests/Tidy", swiftSettings: strict),
    tests("FrameBusTests", ["FrameBus", "AppGroup", "CChecksum", "CFrameLayout", "BusWorker"]),
    worker("BusWorker", ["FrameBus", "AppGroup"]),
    worker("Prover", ["FrameBus", "AppGroup", "TestSupport"]),
    cProgram("HostileMember", ["CFrameLayout"]), cProgram("SemaphorePeer", ["CSemaphoreLayout"]),
    tests("ProofTests", ["FrameBus", "AppGroup", "Prover", "HostileMember", "NotifyWorker"]),
    tests(
      "GroupSemaphoresTests",
      ["GroupSemaphores", "AppGroup", "CSemaphoreLayout", "SemaphoreWorker", "SemaphorePeer"]),
    worker("SemaphoreWorker", ["GroupSemaphores", "AppGroup"]),
    tests(
      "CredentialStoreTests",
      ["CredentialStore", "AppGroup", "BusCLI", "CredentialWorker", "SecretHolder"],
      exclude: ["Vectors"]),
    worker("CredentialWorker", ["CredentialStore", "AppGroup"]),
    worker("SecretHolder", ["CredentialStore", "AppGroup"]),
    tests(
      "BroadcastTests",
      [
        "Broadcast", "AppGroup", "Capture", "CredentialStore", "FrameBus", "NotifyCenter",
        "SharedDefaults", "SharedLog", "Sound", "Upload", "FakeCamera", "BroadcastWorker", "BusCLI",
        "CaptureProgram", "CaptureGStreamerProgram", "ConfineProgram",
      ]),
    worker("BroadcastWorker", ["Broadcast", "AppGroup", "Capture", "CredentialStore", "FrameBus"]),
    tests(
      "CInterfaceTests", in: .adapters,
      shared.map { .target(name: $0) } + ["BusWorker", "HostileMember"]),
    tests("OBSPluginTests", in: .adapters, ["BusCLI", "CInterface"]),
    tests("GStreamerPluginTests", in: .adapters, ["BusCLI", "CaptureProgram"]),
    tests("DarwinKeychainTests", in: .adapters, ["DarwinKeychain", "CredentialStore", "AppGroup"]),
    .testTarget(
      name: "DarwinNotificationsTests",
      dependencies: [
        "DarwinNotifications", "NotifyCenter", "AppGroup", "Platform", "TestSupport",
        "DarwinWorker",
      ],
      path: "Tests/Adapters/DarwinNotificationsTests",
      swiftSettings: [.treatAllWarnings(as: .error)]),
    .executableTarget(
      name: "DarwinWorker", dependencies: ["DarwinNotifications", "Platform"],
      path: "Tests/Programs/DarwinWorker", swiftSettings: [.treatAllWarnings(as: .error)]),
    tests(
      "NotifyCenterTests",
      ["NotifyCenter", "AppGroup", "CNotifyLayout", "NotifyWorker", "MailboxWorker"]),
    worker("NotifyWorker", ["NotifyCenter", "AppGroup"]),
    tests(
      "SharedDefaultsTests",
      ["FoundationDefaults", "SharedDefaults", "AppGroup", "DefaultsWorker", "BusCLI"]),
    worker("DefaultsWorker", ["SharedDefaults", "AppGroup"]),
    worker("MailboxWorker", ["NotifyCenter", "AppGroup"]),
    tests(
      "SharedLogTests",
      [
        "SharedLog", "SharedLogHandler", "LogSinks", "AppGroup", "CLogLayout", "LogWorker",
        "BusCLI", logging,
      ]),
    worker("LogWorker", ["SharedLog", "AppGroup"]),
    tests("ConfinementTests", programs + ["Confinement", "AppGroup", "BreakOut", "RoleHost"]),
    cProgram("BreakOut"), cProgram("FakeCompositor"),
    worker("CameraCycler", ["AppGroup", "Capture", "CaptureCamera", "FrameBus"]),
    worker("RoleHost", ["Confinement", "CredentialStore", "AppGroup"]),
    tests("EndToEndTests", programs + ["BusWorker"]),
    tests("BridgeTests", programs + shared.map { .target(name: $0) } + ["Bridge"]),
    tests("SupportTests"), tests("PlatformTests", ["PeerSignaller"]), worker("PeerSignaller", []),
    tests("AppGroupTests", ["AppGroup"]),
    tests(
      "CLITests",
      programs + [
        "AppGroup", "Capture", "CommandLineSupport", "SharedDefaults", "Upload", argumentParser,
      ]),
    tests(
      "RecordingTests", in: .media,
      ["Recording", "Capture", "AppGroup", "FrameBus", "BusCLI", "BusWorker", "CaptureProgram"]),
    tests("SoundTests", in: .media, ["Sound", "AppGroup", "FrameBus", "SharedDefaults"]),
    worker("UploadTestPublisher", ["AppGroup", "FrameBus"]),
    cProgram("SoundThread", ["CGStreamer"]), cProgram("FakeCamera"),
    tests(
      "UploadTests", in: .media,
      ["Upload", "AppGroup", "FrameBus", "Sound", "UploadTestPublisher"]),
    tests(
      "UploadGStreamerTests", in: .media,
      programs + [
        "Upload", "UploadGStreamer", "AppGroup", "FrameBus", "Replay", "UploadTestPublisher",
        "SoundThread",
      ]),
    tests(
      "WHIPTests", in: .media, programs + ["WHIP", "CredentialStore", "UploadTestPublisher"]),
    tests("LivePageTests", in: .media, programs + ["LivePage", "WHIP", "UploadTestPublisher"]),
    tests(
      "GuideTests",
      programs + [
        "AppGroup", "Capture", "CommandLineSupport", "FrameBus", "Upload", argumentParser,
      ]),
    tests(
      "CaptureTests", in: .media,
      programs + [
        "Capture", "CaptureCamera", "AppGroup", "FrameBus", "FakeCamera", "CameraCycler",
      ]),
    cProgram("PictureSource", [media("CPipeWireSystem")], linking: "pipewire-0.3"),
    cProgram("GrantProbe", ["CPipeWire", media("CPipeWireSystem")], linking: "pipewire-0.3"),
    tests(
      "CapturePipeWireTests", in: .media,
      programs + [
        "AppGroup", "FrameBus", "FakeCompositor", "GrantProbe", "PictureSource", "PortalCycler",
      ]),
    worker("PortalCycler", ["AppGroup", "Capture", "CapturePipeWire", "FrameBus"]),
    tests(
      "CaptureX11Tests", in: .media,
      programs + [
        "Capture", "AppGroup", "FrameBus", "FrontApplication", "NotifyCenter", "ScreenRecorder",
      ]),
    tests(
      "CaptureWaylandTests", in: .media,
      ["AppGroup", "FrameBus", "BusCLI", "CaptureProgram", "ConfineProgram", "FakeCompositor"]),
    tests(
      "CaptureGStreamerTests", in: .media,
      programs + ["Capture", "AppGroup", "CaptureGStreamer", "FrameBus"]),
    tests(
      "BenchTests",
      [
        "Bench", "BusCLI", "BareGrab", "BareRing", "BusRing", "BusViewer", "BareDatagram",
        "BareFutex", "BusNotify", "BareWatch", "BusDefaults", "UserSettings", "BareLog", "BusLog",
        "BusLogger", "BusLogReader", "BareSodium", "BusCredential", "BareUpload", "LiveReceiver",
        "CaptureProgram", "CaptureGStreamerProgram", "UploadProgram", "BareWayland", "BareNode",
      ]),
  ],
  swiftLanguageModes: [.v6]
)

// FRAMEBUS_TESTS names the only test targets to build, for scripts/test and scripts/sanitize.
if let names = Context.environment["FRAMEBUS_TESTS"]?.split(separator: " ").map(String.init) {
  package.targets.removeAll { $0.type == .test && !names.contains($0.name) }
}
if Context.environment["FRAMEBUS_WITHOUT_FUZZERS"] != nil {
  package.targets.removeAll { $0.name.hasPrefix("Fuzz") || $0.name == "CPortalKit" }
}
