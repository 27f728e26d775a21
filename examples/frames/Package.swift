// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "frames",
  dependencies: [.package(name: "FrameBus", path: "../..", traits: [])],
  targets: [
    .executableTarget(
      name: "Paint", dependencies: [.product(name: "FrameBus", package: "FrameBus")]),
    .executableTarget(
      name: "Count", dependencies: [.product(name: "FrameBus", package: "FrameBus")]),
  ]
)
