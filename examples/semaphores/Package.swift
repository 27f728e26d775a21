// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "semaphores",
  dependencies: [.package(name: "FrameBus", path: "../..", traits: [])],
  targets: [
    .executableTarget(
      name: "TakeTurns", dependencies: [.product(name: "FrameBus", package: "FrameBus")])
  ]
)
