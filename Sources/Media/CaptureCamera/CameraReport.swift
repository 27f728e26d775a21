/// A camera as `framebus cameras` lists it, and as JSON. The names are a contract.
public struct CameraReport: Encodable, Sendable {
  /// As `framebus capture` takes it.
  let source: String
  /// Empty for a camera that is not a device of this machine.
  let path: String
  /// What its driver, or PipeWire, calls it; of any content.
  let name: String
  let bus: String
  let driver: String
  let modes: [Mode]
  let controls: [Control]
  /// Why it cannot be opened; nil if it can.
  let problem: String?

  /// A mode, as `--format`, `--size` and `--fps` take it.
  public struct Mode: Encodable, Sendable {
    let format: String
    let width: Int
    let height: Int
    /// Other than `width` and `height` if the sizes are a range.
    let maximumWidth: Int
    let maximumHeight: Int
    /// Frames per second: each rate, or the bounds of a range.
    let fps: [Double]
    let isFPSRange: Bool
    private let text: String

    private enum CodingKeys: CodingKey {
      case format, width, height, maximumWidth, maximumHeight, fps, isFPSRange
    }

    /// - Parameter text: all of it, for people.
    public init(
      _ format: String, _ widths: ClosedRange<Int>, _ heights: ClosedRange<Int>, fps: [Double],
      isFPSRange: Bool, text: String
    ) {
      self.format = format
      (width, height) = (widths.lowerBound, heights.lowerBound)
      (maximumWidth, maximumHeight) = (widths.upperBound, heights.upperBound)
      self.fps = fps
      self.isFPSRange = isFPSRange
      self.text = text
    }

    var line: String { "  mode     \(text.plain)" }
  }

  /// A control, as `--control` takes it.
  struct Control: Encodable, Sendable {
    let name: String
    let minimum: Int
    let maximum: Int
    let usual: Int
    let value: Int?
    let isInactive: Bool

    var line: String {
      let value = value.map { ", is \($0)" } ?? ""
      return "  control  \(name)=\(minimum)…\(maximum)\(value)" + (isInactive ? ", inactive" : "")
    }
  }

  public init(_ camera: ListedCamera) {
    source = "camera:\(camera.path)"
    path = camera.path
    name = camera.name
    bus = camera.bus
    driver = camera.driver
    modes = camera.modes.map {
      Mode(
        $0.encoding.name, $0.widths.least...$0.widths.most, $0.heights.least...$0.heights.most,
        fps: $0.rates.map(\.perSecond), isFPSRange: $0.isRateRange, text: $0.text)
    }
    controls = camera.controls.map {
      Control(
        name: $0.name, minimum: $0.range.lowerBound, maximum: $0.range.upperBound,
        usual: $0.usual, value: $0.value, isInactive: $0.isInactive)
    }
    problem = camera.problem
  }

  /// A camera that another program offers.
  /// - Parameters:
  ///   - id: its name for programs.
  ///   - server: what offers it, such as `pipewire`.
  public init(id: String, name: String, of server: String, modes: [Mode]) {
    source = "camera:\(id)"
    path = ""
    self.name = name
    bus = ""
    driver = server
    self.modes = modes
    controls = []
    problem = nil
  }

  /// As text for people.
  public var lines: [String] {
    if let problem { return ["\(source.plain): \(problem)"] }
    let place = [driver, bus].filter { !$0.isEmpty }.map(\.plain).joined(separator: ", ")
    return ["\(source.plain): \(name.plain) (\(place))"] + modes.map(\.line) + controls.map(\.line)
  }
}
