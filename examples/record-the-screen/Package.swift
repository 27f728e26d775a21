// swift-tools-version: 6.2
import PackageDescription

// scripts/test also builds it where there are no media libraries.
let traits: Set<Package.Dependency.Trait> =
  Context.environment["FRAMEBUS_WITHOUT_MEDIA"] == nil ? [.defaults] : []

let package = Package(
  name: "record-the-screen",
  dependencies: [.package(name: "FrameBus", path: "../..", traits: traits)],
  targets: [
    .executableTarget(
      name: "RecordTheScreen",
      dependencies: [
        .product(name: "FrameBus", package: "FrameBus"),
        .product(name: "ScreenRecorder", package: "FrameBus"),
      ])
  ]
)
