// swift-tools-version: 6.2
import PackageDescription

let broadcast: Target.Dependency = .product(name: "Broadcast", package: "FrameBus")
let core: Target.Dependency = .product(name: "FrameBus", package: "FrameBus")

func host(_ name: String) -> Target {
  .executableTarget(name: name, dependencies: [broadcast, core, "Stage"])
}

let package = Package(
  name: "host-and-extension",
  dependencies: [.package(name: "FrameBus", path: "../..", traits: [])],
  targets: [
    // The extension: it needs the library and nothing else.
    .executableTarget(name: "Uploader", dependencies: [broadcast, core]),
    // Where the hosts below play: a group of their own, with the extension in it.
    .target(name: "Stage", dependencies: [broadcast, core]),
    host("HostAndExtension"), host("CredentialHandOver"), host("ReadTheLog"),
    host("SlowUploader"), host("CrashAndRecover"),
  ]
)
