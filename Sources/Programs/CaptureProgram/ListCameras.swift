import ArgumentParser
import Capture
import CaptureCamera
import CommandLineSupport
import Platform

/// `framebus cameras`.
struct ListCameras: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cameras", abstract: "List the cameras, with their modes and controls.")

  @OptionGroup var global: GlobalOptions

  func run() throws {
    let cameras = CameraSearch.all().map(CameraReport.init)
    let terminal = global.terminal
    if global.json { return try terminal.printJSON(cameras) }
    if cameras.isEmpty { return terminal.report("\(CameraError.noCamera)") }
    for camera in cameras {
      for line in camera.lines { try terminal.print(line) }
    }
  }
}

/// A camera as JSON. The names are a contract.
private struct CameraReport: Encodable {
  /// As `framebus capture` takes it.
  let source: String
  let path: String
  let name: String
  let bus: String
  let driver: String
  let modes: [Mode]
  let controls: [Control]
  /// Why it cannot be opened; nil if it can.
  let problem: String?

  struct Mode: Encodable {
    let format: String
    let width: Int
    let height: Int
    /// Other than `width` and `height` if the sizes are a range.
    let maximumWidth: Int
    let maximumHeight: Int
    let fps: [Double]
    /// Whether `fps` has the bounds of a range.
    let isFPSRange: Bool
  }

  struct Control: Encodable {
    let name: String
    let minimum: Int
    let maximum: Int
    let usual: Int
    let value: Int?
    let isInactive: Bool
  }

  private enum CodingKeys: CodingKey {
    case source, path, name, bus, driver, modes, controls, problem
  }

  private let modeTexts: [String]

  init(_ camera: ListedCamera) {
    source = "camera:\(camera.path)"
    path = camera.path
    name = camera.name
    bus = camera.bus
    driver = camera.driver
    modes = camera.offers.map {
      Mode(
        format: $0.format, width: $0.width, height: $0.height, maximumWidth: $0.maximumWidth,
        maximumHeight: $0.maximumHeight, fps: $0.rates, isFPSRange: $0.isRateRange)
    }
    controls = camera.controls.map {
      Control(
        name: $0.name, minimum: $0.range.lowerBound, maximum: $0.range.upperBound,
        usual: $0.usual, value: $0.value, isInactive: $0.isInactive)
    }
    problem = camera.problem
    modeTexts = camera.offers.map(\.text)
  }

  var lines: [String] {
    if let problem { return ["\(source): \(problem)"] }
    return ["\(source): \(name.plain) (\(driver.plain), \(bus.plain))"]
      + modeTexts.map { "  mode     \($0)" }
      + controls.map { control in
        let value = control.value.map { ", is \($0)" } ?? ""
        return "  control  \(control.name)=\(control.minimum)…\(control.maximum)\(value)"
          + (control.isInactive ? ", inactive" : "")
      }
  }
}
