// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "read-the-log",
  dependencies: [.package(name: "FrameBus", path: "../..", traits: [])],
  targets: [
    .executableTarget(
      name: "Worker", dependencies: [.product(name: "FrameBus", package: "FrameBus")]),
    .executableTarget(
      name: "Host", dependencies: [.product(name: "FrameBus", package: "FrameBus")]),
  ]
)
