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
    // The extension, which needs only the library.
    .executableTarget(name: "Uploader", dependencies: [broadcast, core]),
    // The common part of the hosts below: a group with the extension registered.
    .target(name: "Stage", dependencies: [broadcast, core]),
    host("HostAndExtension"), host("CredentialHandOver"), host("ReadTheLog"),
    host("SlowUploader"), host("CrashAndRecover"),
  ]
)
