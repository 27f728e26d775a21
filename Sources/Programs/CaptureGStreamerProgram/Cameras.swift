#if Media
  import ArgumentParser
  import Capture
  import CaptureCamera
  import CaptureGStreamer
  import CommandLineSupport
  import FrameBus

  /// `framebus cameras`, with PipeWire's nodes.
  struct ListCameras: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "cameras", abstract: "List the cameras, with their modes and controls.")

    @OptionGroup var global: GlobalOptions

    func run() throws {
      let cameras = CameraSearch.all()
      let paths = Set(cameras.map(\.path))
      let nodes = try CameraNode.all().filter { node in
        node.devicePath.map { !paths.contains($0) } ?? true
      }
      let reports = cameras.map(CameraReport.init) + nodes.map(CameraReport.init)
      let terminal = global.terminal
      if global.json { return try terminal.printJSON(reports) }
      if reports.isEmpty { return terminal.report("\(CameraError.noCamera)") }
      for line in reports.flatMap(\.lines) { try terminal.print(line) }
    }
  }

  extension CameraReport {
    fileprivate init(_ node: CameraNode) {
      let modes = node.modes.map { mode in
        Mode(
          mode.format, mode.widths, mode.heights,
          fps: mode.rates.map { [$0.lowerBound, $0.upperBound] } ?? [], isFPSRange: true,
          text: mode.text)
      }
      self.init(id: node.name, name: node.description, of: "pipewire", modes: modes)
    }
  }

  /// A Video4Linux camera whose pictures are decoded.
  struct CameraOrigin: PictureOrigin {
    private var name: String?
    private let settings: CaptureSettings
    private let times = CameraTimes()

    init(_ name: String?, _ settings: CaptureSettings) {
      self.name = name
      self.settings = settings
    }

    var isPresent: Bool { CameraSearch.isPresent(name) }

    mutating func open() throws(OriginError) -> OpenOrigin {
      let camera: EncodedCamera
      do { camera = try EncodedCamera(name, settings, times) } catch { throw OriginError(error) }
      name = camera.name
      let size = "width=\(camera.width),height=\(camera.height)"
      let rate = camera.rate
      let steady =
        rate == .variable ? "" : ",framerate=\(rate.numerator)/\(rate.denominator)"
      // One thread: others would each keep a picture back.
      let (caps, decoder) =
        switch camera.codec {
        case .jpeg: ("image/jpeg", "jpegdec")
        case .h264:
          (
            "video/x-h264,stream-format=byte-stream,alignment=au",
            "h264parse ! avdec_h264 max-threads=1"
          )
        }
      return OpenOrigin(
        elements: "appsrc name=feed is-live=true format=time max-bytes=0 "
          + "caps=\"\(caps),\(size)\(steady)\" ! \(decoder)", feed: CameraFeed(camera))
    }
  }

  /// Pushes a camera's pictures into its decoder.
  private final class CameraFeed: PipelineFeed {
    private let camera: EncodedCamera

    init(_ camera: EncodedCamera) { self.camera = camera }

    var descriptorNumber: Int32 { camera.descriptorNumber }

    func push(into input: borrowing PipelineInput) throws(OriginError) -> UInt64 {
      do throws(CameraError) {
        return try camera.next { input.push($0, ptsNs: $1) }
      } catch { throw OriginError(error) }
    }
  }

  extension OriginError {
    fileprivate init(_ error: CameraError) {
      self = error.isTemporary ? .absent("\(error)") : .failed("\(error)")
    }
  }
#endif
