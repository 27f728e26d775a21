// swift-tools-version: 6.2
import PackageDescription

// The layers, arrows pointing down only (docs/ARCHITECTURE.md; Tests/TidyTests enforces them).
// The media modules (marked *) are empty without the package trait Media: the core then builds
// and links without XCB and GStreamer.
//
//   L6  BusCLI  CaptureProgram  CaptureGStreamerProgram  UploadProgram, over Bench and
//       CommandLineSupport
//   L5  Broadcast
//   L4  Capture  CaptureX11*  CaptureGStreamer*  Recording  Sound  Upload  WHIP  UploadGStreamer*
//       DarwinNotifications  DarwinKeychain  FoundationDefaults  SharedLogHandler  LogSinks
//       GStreamerLog*
//   L3  FrameBus  GroupSemaphores  NotifyCenter  CredentialStore  SharedDefaults  SharedLog
//       Confinement
//   L2  AppGroup
//   L1  Platform
//   L0  CChecksum  CFrameLayout  CLogLayout  CNotifyLayout  CSemaphoreLayout  CLinuxShims
//       CSeccomp  CSodium  CURing  CXCB*  CGStreamer*  CWebRTC*  CCurl*

let strict: [SwiftSetting] = [
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
  .enableExperimentalFeature("Lifetimes"),
]
let strictC: [CSetting] = [.treatAllWarnings(as: .error)]
let whenMedia: CSetting = .define("FRAMEBUS_MEDIA", .when(traits: ["Media"]))

func media(_ name: String) -> Target.Dependency {
  .target(name: name, condition: .when(traits: ["Media"]))
}
let argumentParser: Target.Dependency = .product(
  name: "ArgumentParser", package: "swift-argument-parser")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")

func fuzzer(_ name: String, of module: Target.Dependency = "FrameBus") -> Target {
  .executableTarget(
    name: "Fuzz\(name)",
    dependencies: [module, "Platform", "CFrameLayout", "CFuzzer", "FuzzSupport"],
    path: "Fuzz/\(name)", swiftSettings: strict)
}

let package = Package(
  name: "FrameBus",
  products: [
    .library(
      name: "FrameBus",
      targets: [
        "FrameBus", "AppGroup", "CredentialStore", "GroupSemaphores", "NotifyCenter",
        "SharedDefaults", "SharedLog",
      ]),
    .library(name: "Broadcast", targets: ["Broadcast"]),
    .library(name: "DarwinNotifications", targets: ["DarwinNotifications"]),
    .library(name: "DarwinKeychain", targets: ["DarwinKeychain"]),
    .library(name: "FoundationDefaults", targets: ["FoundationDefaults"]),
    .library(name: "SharedLogHandler", targets: ["SharedLogHandler"]),
    .library(name: "LogSinks", targets: ["LogSinks"]),
    .executable(name: "framebus", targets: ["BusCLI"]),
    .executable(name: "framebus-capture", targets: ["CaptureProgram"]),
    .executable(name: "framebus-capture-gstreamer", targets: ["CaptureGStreamerProgram"]),
    .executable(name: "framebus-upload", targets: ["UploadProgram"]),
    .executable(name: "framebus-confine", targets: ["ConfineProgram"]),
  ],
  traits: [
    .trait(
      name: "Media",
      description: "Screen capture (XCB) and encoding (GStreamer). The core never needs it."),
    .trait(
      name: "CrashPoints",
      description: "For the tests alone: named points at which a process can be made to die."),
    .trait(
      name: "ThreadSanitizer",
      description: "For the tests alone: what ThreadSanitizer cannot see is done so that it can."),
    .trait(
      name: "Fuzzing",
      description: "For the tests alone: the programs of Fuzz/ make up inputs (scripts/fuzz)."),
    .default(enabledTraits: ["Media"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    // 1.13 is the first with attributes of metadata (SLG-0004), by which a value is private.
    .package(url: "https://github.com/apple/swift-log", from: "1.13.0"),
  ],
  targets: [
    // L0: C
    .target(name: "CChecksum", cSettings: strictC),
    .target(name: "CFrameLayout", cSettings: strictC),
    .target(name: "CLogLayout", cSettings: strictC),
    .target(name: "CNotifyLayout", cSettings: strictC),
    .target(name: "CSemaphoreLayout", cSettings: strictC),
    .target(name: "CLinuxShims", cSettings: strictC),
    .target(
      name: "CURing", cSettings: strictC, linkerSettings: [.linkedLibrary("uring")]),
    .systemLibrary(
      name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
    .systemLibrary(
      name: "CSeccomp", pkgConfig: "libseccomp", providers: [.apt(["libseccomp-dev"])]),
    .systemLibrary(
      name: "CXCB", pkgConfig: "xcb xcb-shm xcb-damage xcb-xfixes xcb-randr",
      providers: [
        .apt([
          "libxcb1-dev", "libxcb-shm0-dev", "libxcb-damage0-dev", "libxcb-xfixes0-dev",
          "libxcb-randr0-dev",
        ])
      ]),
    .systemLibrary(
      name: "CGStreamerSystem",
      pkgConfig: "gstreamer-app-1.0 gstreamer-audio-1.0 gstreamer-video-1.0",
      providers: [
        .apt([
          "libgstreamer1.0-dev", "libgstreamer-plugins-base1.0-dev",
          "libgstreamer-plugins-bad1.0-dev", "libyuv-dev",
        ])
      ]),
    .target(
      name: "CGStreamer", dependencies: [media("CGStreamerSystem")], cSettings: strictC,
      linkerSettings: [.linkedLibrary("yuv", .when(traits: ["Media"]))]),
    .target(
      name: "CWebRTC", dependencies: ["CGStreamer", media("CGStreamerSystem")],
      cSettings: strictC + [whenMedia],
      linkerSettings: [
        .linkedLibrary("gstwebrtc-1.0", .when(traits: ["Media"])),
        .linkedLibrary("gstsdp-1.0", .when(traits: ["Media"])),
        .linkedLibrary("crypto", .when(traits: ["Media"])),
      ]),
    .target(
      name: "CCurl", cSettings: strictC + [whenMedia],
      linkerSettings: [.linkedLibrary("curl", .when(traits: ["Media"]))]),

    // L1 … L3: the core
    .target(name: "Platform", dependencies: ["CLinuxShims", "CURing"], swiftSettings: strict),
    .target(name: "AppGroup", dependencies: ["Platform"], swiftSettings: strict),
    .target(
      name: "FrameBus", dependencies: ["AppGroup", "CChecksum", "CFrameLayout", "Platform"],
      swiftSettings: strict),
    .target(
      name: "GroupSemaphores", dependencies: ["AppGroup", "CSemaphoreLayout", "Platform"],
      swiftSettings: strict),
    .target(
      name: "CredentialStore", dependencies: ["AppGroup", "CSodium", "Platform"],
      swiftSettings: strict),
    .target(
      name: "NotifyCenter", dependencies: ["AppGroup", "CNotifyLayout", "Platform"],
      swiftSettings: strict),
    .target(
      name: "SharedDefaults", dependencies: ["AppGroup", "CChecksum", "Platform"],
      swiftSettings: strict),
    .target(
      name: "SharedLog", dependencies: ["AppGroup", "CChecksum", "CLogLayout", "Platform"],
      swiftSettings: strict),

    .target(
      name: "Confinement", dependencies: ["AppGroup", "Platform"], swiftSettings: strict),

    // L4: other spellings, and media
    .target(
      name: "DarwinNotifications", dependencies: ["NotifyCenter", "AppGroup", "Platform"],
      swiftSettings: strict),
    .target(
      name: "DarwinKeychain", dependencies: ["CredentialStore", "AppGroup", "Platform"],
      swiftSettings: strict),
    .target(
      name: "FoundationDefaults", dependencies: ["SharedDefaults"], swiftSettings: strict),
    .target(
      name: "SharedLogHandler", dependencies: ["SharedLog", logging], swiftSettings: strict),
    .target(name: "LogSinks", dependencies: ["SharedLog", "Platform"], swiftSettings: strict),
    .target(
      name: "GStreamerLog",
      dependencies: ["SharedLog", "CGStreamer", media("CGStreamerSystem")], swiftSettings: strict),
    .target(
      name: "Capture", dependencies: ["AppGroup", "FrameBus", "Platform", "Sound"],
      swiftSettings: strict),
    .target(
      name: "CaptureX11", dependencies: ["Capture", "FrameBus", "Platform", media("CXCB")],
      swiftSettings: strict),
    .target(
      name: "CaptureGStreamer",
      dependencies: [
        "Capture", "FrameBus", "Platform", "Sound", "CGStreamer", media("CGStreamerSystem"),
      ],
      swiftSettings: strict),
    .target(
      name: "Recording", dependencies: ["AppGroup", "FrameBus", "Platform"], swiftSettings: strict),
    .target(
      name: "Sound", dependencies: ["FrameBus", "Platform"], swiftSettings: strict),
    .target(
      name: "Upload", dependencies: ["AppGroup", "FrameBus", "Platform", "Sound"],
      swiftSettings: strict),
    .target(
      name: "WHIP", dependencies: ["CredentialStore", "Platform", "CCurl"],
      swiftSettings: strict),
    .target(
      name: "UploadGStreamer",
      dependencies: [
        "Upload", "WHIP", "FrameBus", "Platform", "Sound", "CGStreamer", "CWebRTC",
        media("CGStreamerSystem"),
      ],
      swiftSettings: strict),

    // L5: what ties the core together
    .target(
      name: "Broadcast",
      dependencies: [
        "AppGroup", "Confinement", "CredentialStore", "FrameBus", "NotifyCenter", "Platform",
        "SharedDefaults", "SharedLog",
      ],
      swiftSettings: strict),

    // L6: programs
    .target(
      name: "CommandLineSupport",
      dependencies: [
        "AppGroup", "Capture", "Confinement", "FrameBus", "LogSinks", "NotifyCenter", "Platform",
        "SharedLog", "Sound", argumentParser,
      ],
      swiftSettings: strict),
    .target(
      name: "Bench", dependencies: ["CommandLineSupport", "AppGroup", "Platform"],
      swiftSettings: strict),
    .executableTarget(
      name: "BusCLI",
      dependencies: [
        "Bench", "Broadcast", "CommandLineSupport", "Confinement", "Recording", "Upload",
        "AppGroup", "CredentialStore", "FoundationDefaults", "FrameBus", "GroupSemaphores",
        "NotifyCenter", "Platform",
        "SharedDefaults", "SharedLog", argumentParser,
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "CaptureProgram",
      dependencies: [
        "CommandLineSupport", "Capture", "CaptureX11", "AppGroup", "FrameBus", "Platform",
        argumentParser,
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "CaptureGStreamerProgram",
      dependencies: [
        "CommandLineSupport", "Capture", "CaptureGStreamer", "GStreamerLog", "AppGroup",
        "FrameBus", "Platform", argumentParser,
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "UploadProgram",
      dependencies: [
        "Broadcast", "CommandLineSupport", "Upload", "UploadGStreamer", "WHIP", "GStreamerLog",
        "CredentialStore", "SharedLog", "AppGroup", "FrameBus", "Platform", argumentParser,
      ],
      swiftSettings: strict),

    .executableTarget(
      name: "ConfineProgram", dependencies: ["CSeccomp"], cSettings: strictC),

    // Benchmarks: what the suites of Bench compare with
    .executableTarget(
      name: "BareGrab", dependencies: [media("CXCB")], path: "Benchmarks/BareGrab",
      cSettings: strictC + [whenMedia]),
    .target(name: "RingKit", path: "Benchmarks/RingKit", cSettings: strictC),
    .executableTarget(
      name: "BareRing", dependencies: ["RingKit"], path: "Benchmarks/BareRing",
      cSettings: strictC),
    .executableTarget(
      name: "BareDatagram", dependencies: ["RingKit"], path: "Benchmarks/BareDatagram",
      cSettings: strictC),
    .executableTarget(
      name: "BareFutex", dependencies: ["RingKit"], path: "Benchmarks/BareFutex",
      cSettings: strictC),
    .target(name: "LogKit", path: "Benchmarks/LogKit", cSettings: strictC),
    .executableTarget(
      name: "BareSodium", dependencies: ["RingKit", "CSodium"], path: "Benchmarks/BareSodium",
      cSettings: strictC),
    .executableTarget(
      name: "BusCredential", dependencies: ["RingKit", "CredentialStore", "AppGroup", "Platform"],
      path: "Benchmarks/BusCredential", swiftSettings: [.treatAllWarnings(as: .error)]),
    .executableTarget(
      name: "BareLog", dependencies: ["LogKit"], path: "Benchmarks/BareLog", cSettings: strictC),
    .executableTarget(
      name: "BusLog", dependencies: ["LogKit", "SharedLog", "AppGroup", "Platform"],
      path: "Benchmarks/BusLog", swiftSettings: [.treatAllWarnings(as: .error)]),
    .executableTarget(
      name: "BusLogger",
      dependencies: ["LogKit", "SharedLog", "SharedLogHandler", "AppGroup", "Platform", logging],
      path: "Benchmarks/BusLogger", swiftSettings: [.treatAllWarnings(as: .error)]),
    .executableTarget(
      name: "BusLogReader", dependencies: ["SharedLog", "AppGroup", "Platform"],
      path: "Benchmarks/BusLogReader", swiftSettings: [.treatAllWarnings(as: .error)]),
    .executableTarget(
      name: "BareWatch", dependencies: ["RingKit"], path: "Benchmarks/BareWatch",
      cSettings: strictC),
    .target(
      name: "RingReceiver", dependencies: ["RingKit", "Platform"],
      path: "Benchmarks/RingReceiver", swiftSettings: [.treatAllWarnings(as: .error)]),
    .executableTarget(
      name: "BusNotify",
      dependencies: ["RingKit", "RingReceiver", "NotifyCenter", "AppGroup", "Platform"],
      path: "Benchmarks/BusNotify", swiftSettings: [.treatAllWarnings(as: .error)]),
    .executableTarget(
      name: "BusDefaults",
      dependencies: ["RingKit", "RingReceiver", "SharedDefaults", "AppGroup", "Platform"],
      path: "Benchmarks/BusDefaults", swiftSettings: [.treatAllWarnings(as: .error)]),
    .executableTarget(
      name: "UserSettings", dependencies: ["RingKit"], path: "Benchmarks/UserSettings",
      swiftSettings: [.treatAllWarnings(as: .error)]),
    .executableTarget(
      name: "BusRing", dependencies: ["RingKit", "FrameBus", "AppGroup", "Platform"],
      path: "Benchmarks/BusRing", swiftSettings: [.treatAllWarnings(as: .error)]),

    // Fuzzing of all that reads what another process wrote: one program a parser
    .target(
      name: "CFuzzer", path: "Fuzz/CFuzzer",
      cSettings: strictC + [.define("FUZZING", .when(traits: ["Fuzzing"]))]),
    .target(
      name: "FuzzSupport", dependencies: ["FrameBus", "AppGroup", "Platform", "TestSupport"],
      path: "Fuzz/Support", swiftSettings: strict),
    fuzzer("Requests"), fuzzer("Welcomes"), fuzzer("Records"),
    fuzzer("Recordings", of: "Recording"), fuzzer("Letters", of: "NotifyCenter"),
    fuzzer("Credentials", of: "CredentialStore"),
    fuzzer("Settings", of: "SharedDefaults"),
    fuzzer("Logs", of: "SharedLog"),

    // Tests, of real processes
    .target(
      name: "TestSupport", dependencies: ["Platform"], path: "Tests/Support",
      swiftSettings: strict),
    .target(
      name: "WorkerSupport", dependencies: ["Platform"], path: "Tests/WorkerSupport",
      swiftSettings: strict),
    .testTarget(name: "TidyTests", swiftSettings: strict),
    .testTarget(
      name: "FrameBusTests",
      dependencies: [
        "FrameBus", "AppGroup", "Platform", "CChecksum", "CFrameLayout", "TestSupport",
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "BusWorker", dependencies: ["FrameBus", "AppGroup", "Platform", "WorkerSupport"],
      path: "Tests/BusWorker", swiftSettings: strict),
    .executableTarget(
      name: "Prover",
      dependencies: ["FrameBus", "AppGroup", "Platform", "TestSupport", "WorkerSupport"],
      path: "Tests/Prover", swiftSettings: strict),
    .executableTarget(
      name: "HostileMember", dependencies: ["CFrameLayout"], path: "Tests/HostileMember",
      cSettings: strictC),
    .testTarget(
      name: "ProofTests",
      dependencies: [
        "FrameBus", "AppGroup", "Platform", "TestSupport", "Prover", "HostileMember",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "GroupSemaphoresTests",
      dependencies: [
        "GroupSemaphores", "AppGroup", "Platform", "CSemaphoreLayout", "TestSupport",
        "SemaphoreWorker", "SemaphorePeer",
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "SemaphoreWorker",
      dependencies: ["GroupSemaphores", "AppGroup", "Platform", "WorkerSupport"],
      path: "Tests/SemaphoreWorker", swiftSettings: strict),
    .executableTarget(
      name: "SemaphorePeer", dependencies: ["CSemaphoreLayout"], path: "Tests/SemaphorePeer",
      cSettings: strictC),
    .testTarget(
      name: "CredentialStoreTests",
      dependencies: [
        "CredentialStore", "AppGroup", "Platform", "TestSupport", "BusCLI", "CredentialWorker",
        "SecretHolder",
      ],
      exclude: ["Vectors"], swiftSettings: strict),
    .executableTarget(
      name: "CredentialWorker",
      dependencies: ["CredentialStore", "AppGroup", "Platform", "WorkerSupport"],
      path: "Tests/CredentialWorker", swiftSettings: strict),
    .executableTarget(
      name: "SecretHolder",
      dependencies: ["CredentialStore", "AppGroup", "Platform", "WorkerSupport"],
      path: "Tests/SecretHolder", swiftSettings: strict),
    .testTarget(
      name: "BroadcastTests",
      dependencies: [
        "Broadcast", "AppGroup", "CredentialStore", "FrameBus", "NotifyCenter", "Platform",
        "SharedDefaults", "SharedLog", "TestSupport", "BroadcastWorker", "BusCLI",
        "CaptureProgram", "ConfineProgram",
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "BroadcastWorker",
      dependencies: ["Broadcast", "AppGroup", "CredentialStore", "Platform", "WorkerSupport"],
      path: "Tests/BroadcastWorker", swiftSettings: strict),
    .testTarget(
      name: "DarwinKeychainTests",
      dependencies: ["DarwinKeychain", "CredentialStore", "AppGroup", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "DarwinNotificationsTests",
      dependencies: [
        "DarwinNotifications", "NotifyCenter", "AppGroup", "Platform", "TestSupport",
        "DarwinWorker",
      ],
      swiftSettings: [.treatAllWarnings(as: .error)]),
    .executableTarget(
      name: "DarwinWorker", dependencies: ["DarwinNotifications", "Platform"],
      path: "Tests/DarwinWorker", swiftSettings: [.treatAllWarnings(as: .error)]),
    .testTarget(
      name: "NotifyCenterTests",
      dependencies: [
        "NotifyCenter", "AppGroup", "Platform", "CNotifyLayout", "TestSupport", "NotifyWorker",
        "MailboxWorker",
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "NotifyWorker",
      dependencies: ["NotifyCenter", "AppGroup", "Platform", "WorkerSupport"],
      path: "Tests/NotifyWorker", swiftSettings: strict),
    .testTarget(
      name: "SharedDefaultsTests",
      dependencies: [
        "FoundationDefaults", "SharedDefaults", "AppGroup", "Platform", "TestSupport",
        "DefaultsWorker", "BusCLI",
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "DefaultsWorker",
      dependencies: ["SharedDefaults", "AppGroup", "Platform", "WorkerSupport"],
      path: "Tests/DefaultsWorker", swiftSettings: strict),
    .executableTarget(
      name: "MailboxWorker",
      dependencies: ["NotifyCenter", "AppGroup", "Platform", "WorkerSupport"],
      path: "Tests/MailboxWorker", swiftSettings: strict),
    .testTarget(
      name: "SharedLogTests",
      dependencies: [
        "SharedLog", "SharedLogHandler", "LogSinks", "AppGroup", "Platform", "CLogLayout",
        "TestSupport", "LogWorker", "BusCLI", logging,
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "LogWorker", dependencies: ["SharedLog", "AppGroup", "Platform", "WorkerSupport"],
      path: "Tests/LogWorker", swiftSettings: strict),
    .testTarget(
      name: "ConfinementTests",
      dependencies: [
        "Confinement", "AppGroup", "Platform", "TestSupport", "BreakOut", "BusCLI",
        "CaptureProgram", "ConfineProgram", "RoleHost", "UploadProgram",
      ],
      swiftSettings: strict),
    .executableTarget(name: "BreakOut", path: "Tests/BreakOut", cSettings: strictC),
    .executableTarget(
      name: "RoleHost",
      dependencies: ["Confinement", "AppGroup", "Platform", "WorkerSupport"],
      path: "Tests/RoleHost", swiftSettings: strict),
    .testTarget(
      name: "EndToEndTests",
      dependencies: [
        "TestSupport", "Platform", "BusCLI", "BusWorker", "CaptureProgram",
        "CaptureGStreamerProgram", "UploadProgram",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "SupportTests", dependencies: ["TestSupport", "Platform"], swiftSettings: strict),
    .testTarget(
      name: "PlatformTests", dependencies: ["TestSupport", "Platform"], swiftSettings: strict),
    .testTarget(
      name: "AppGroupTests", dependencies: ["TestSupport", "AppGroup", "Platform"],
      swiftSettings: strict),
    .testTarget(
      name: "CLITests",
      dependencies: [
        "TestSupport", "CommandLineSupport", "Platform", "BusCLI", "CaptureProgram",
        "UploadProgram",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "RecordingTests",
      dependencies: [
        "TestSupport", "Recording", "Capture", "AppGroup", "FrameBus", "Platform", "BusCLI",
        "BusWorker", "CaptureProgram",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "SoundTests", dependencies: ["Sound", "FrameBus", "Platform", "TestSupport"],
      swiftSettings: strict),
    .executableTarget(
      name: "UploadTestPublisher", dependencies: ["AppGroup", "FrameBus", "Platform"],
      path: "Tests/UploadTestPublisher", swiftSettings: strict),
    .executableTarget(
      name: "SoundThread", dependencies: ["CGStreamer"], path: "Tests/SoundThread",
      cSettings: strictC),
    .testTarget(
      name: "UploadTests",
      dependencies: [
        "TestSupport", "Upload", "AppGroup", "FrameBus", "Platform", "Sound",
        "UploadTestPublisher",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "UploadGStreamerTests",
      dependencies: [
        "TestSupport", "Upload", "UploadGStreamer", "AppGroup", "FrameBus", "Platform",
        "UploadTestPublisher", "UploadProgram", "BusCLI", "CaptureProgram",
        "CaptureGStreamerProgram", "SoundThread",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "WHIPTests",
      dependencies: [
        "TestSupport", "WHIP", "CredentialStore", "Platform", "BusCLI", "CaptureProgram",
        "UploadProgram", "UploadTestPublisher",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "DemoTests", dependencies: ["TestSupport", "Platform", "BusCLI"],
      swiftSettings: strict),
    .testTarget(
      name: "CaptureTests",
      dependencies: [
        "TestSupport", "Capture", "AppGroup", "FrameBus", "Platform", "CaptureProgram", "BusCLI",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "CaptureX11Tests",
      dependencies: [
        "TestSupport", "Capture", "AppGroup", "FrameBus", "Platform", "CaptureProgram",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "CaptureGStreamerTests",
      dependencies: [
        "TestSupport", "Capture", "AppGroup", "FrameBus", "Platform", "CaptureGStreamerProgram",
        "CaptureProgram", "BusCLI",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "BenchTests",
      dependencies: [
        "TestSupport", "Bench", "Platform", "BusCLI", "BareGrab", "BareRing", "BusRing",
        "BareDatagram", "BareFutex", "BusNotify", "BareWatch", "BusDefaults", "UserSettings",
        "BareLog", "BusLog", "BusLogger", "BusLogReader", "BareSodium", "BusCredential",
        "CaptureProgram", "UploadProgram",
      ],
      swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
