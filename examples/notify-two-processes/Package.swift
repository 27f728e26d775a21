// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "notify-two-processes",
  dependencies: [.package(name: "FrameBus", path: "../..", traits: [])],
  targets: [
    .executableTarget(
      name: "Tick", dependencies: [.product(name: "FrameBus", package: "FrameBus")]),
    .executableTarget(
      name: "Watch", dependencies: [.product(name: "FrameBus", package: "FrameBus")]),
  ]
)
