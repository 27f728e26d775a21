#if Media
  import CGStreamer
  import CPipeWire
  import FrameBus
  import Platform
  import Upload

  /// Offers the pictures as a camera of PipeWire (`Video/Source`), in I420.
  @safe final class NodeDestination: Destination {
    let output: String
    let heldFrames = 1
    /// A reader that begins while the screen stands still gets a picture within a second.
    let wantsRepeatedFrames = true
    private(set) var byteCount: UInt64 = 0

    private let name: String
    /// What a broadcast's host has opened; nil to connect to the user's server.
    private let connection: Int32?
    /// SAFETY: made once, and freed by `close`, after which it is nil.
    @unsafe private var camera: OpaquePointer?
    /// Whether the newest picture had a reader.
    private var isRead = false

    /// Without a reader, pictures serve only to begin with.
    private static let restingRate = FrameRate(1)
    private static let longestName = 64

    init(_ name: String, over connection: Int32?) throws(DestinationError) {
      guard (1...Self.longestName).contains(name.utf8.count), name.isPlain else {
        throw .peer(
          reason: "the name of a camera has 1 to \(Self.longestName) bytes and no control "
            + "characters; use one such as camera:Screen", isMisuse: true)
      }
      self.name = name
      self.connection = connection
      output = "camera:\(name)"
    }

    deinit { close() }

    private func close() {
      if let camera = unsafe camera { unsafe fb_camera_free(camera) }
      unsafe camera = nil
    }

    var pictureDemand: Demand { isRead ? .everything : Demand(rate: Self.restingRate) }

    /// Connects, so that the camera is there before the first picture.
    func prepare() throws(DestinationError) {
      if let why = unsafe fb_pipewire_load() {
        throw .noPeer(
          output: output,
          reason: unsafe "\(String(cString: why)); install libpipewire-0.3-0")
      }
      unsafe camera = unsafe fb_camera_new(name, connection ?? -1)
      if unsafe camera == nil {
        throw .noPeer(output: output, reason: "PipeWire does not answer; is it running?")
      }
    }

    func waitForRoom(
      until deadline: Deadline, stop: StopSignal?
    ) throws(DestinationError) -> Bool { true }

    func accept(_ frame: HeldFrame, ptsNs: UInt64) throws(DestinationError) {
      guard let camera = unsafe camera else { return }
      if unsafe fb_camera_has_failed(camera) {
        throw .connectionLost(
          output: output, reason: unsafe String(cString: fb_camera_failure(camera)).plain)
      }
      let picture = try CameraPicture(frame.lease)
      var format = picture.format
      guard unsafe fb_camera_set_format(camera, &format) else {
        throw .connectionLost(output: output, reason: "PipeWire refuses the format")
      }
      var target = fb_camera_target()
      isRead = unsafe fb_camera_begin(camera, &target)
      guard isRead else { return }
      // SAFETY: the planes are those of a picture of this format, until the camera's end of it.
      let planes = unsafe fb_i420_picture(
        plane: target.plane, stride: target.stride, width: format.width, height: format.height)
      let isDone = unsafe picture.convert(frame.lease, to: planes)
      // The node's turn, in any case: the camera is locked until then.
      unsafe fb_camera_end(camera, monotonicNowNs())
      guard isDone else { throw .unusableRows(frame.lease.format.planes[0].stride) }
      byteCount += UInt64(picture.byteCount)
    }

    func finish() throws(DestinationError) { close() }
    func abandon() { close() }
  }
#endif
