#if Media
  // The module UploadGStreamer: destinations that encode with GStreamer.
  //
  // It owns pipelines, encoders and containers. It refuses to subscribe, and to copy a frame: an
  // element reads the slot that the publisher filled.

  import CGStreamer
  import Upload

  /// Has GStreamer's registry of its plugins brought up to date, where this process may write it.
  public func lookForPlugins() throws(DestinationError) { try GStreamerRuntime.start() }

  /// What GStreamer must have before a pipeline is built.
  enum GStreamerRuntime {
    /// Starts GStreamer, once, and looks for every element of a chain.
    static func require(_ elements: [ElementDescription]) throws(DestinationError) {
      try start()
      for element in elements {
        // SAFETY: the string lives during the call.
        guard unsafe element.factory.withCString({ unsafe upload_has_element($0) }) else {
          throw .missingElement(element.factory, package: element.package)
        }
      }
    }

    static func start() throws(DestinationError) {
      try initialise()
      guard upload_register_converter() else {
        throw .mediaLibraryFailed("it does not accept the element framebusconvert")
      }
    }

    private static func initialise() throws(DestinationError) {
      let message = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) {
        buffer -> String? in
        // SAFETY: the buffer is as long as the call is told; on failure it holds a C string.
        guard let start = buffer.baseAddress else { return nil }
        return unsafe upload_start(start, buffer.count) ? nil : unsafe String(cString: start)
      }
      if let message { throw .mediaLibraryFailed(message) }
    }
  }

  /// An element of a pipeline, and where Debian has it.
  struct ElementDescription {
    var factory: String
    /// The Debian package to install if the element is missing.
    var package: String
    var properties: [Property] = []
    /// Properties of the element's input pad.
    var padProperties: [Property] = []
    /// Where sound enters an element that takes it beside pictures.
    var soundPad: String?

    /// A property and its value as text, such as `speed-preset` and `ultrafast`.
    struct Property {
      var name: String
      var value: String

      init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
      }
    }
  }

  /// The elements that several chains need.
  extension ElementDescription {
    static let source = ElementDescription(
      factory: "appsrc", package: "gstreamer1.0-plugins-base")
    /// RGB as screens deliver it to I420; see UploadConverter.c. Part of this program.
    static let convertFast = ElementDescription(
      factory: "framebusconvert", package: "framebus")
    static let convert = ElementDescription(
      factory: "videoconvert", package: "gstreamer1.0-plugins-base")

    /// Turns each frame by its own orientation; one that lies upright passes untouched.
    static let turnUpright = ElementDescription(
      factory: "videoflip", package: "gstreamer1.0-plugins-good")

    /// Frames of any format, size and orientation turned into those of one, upright: the beginning
    /// of every chain that encodes. The conversion comes first, because what it reads is the slot:
    /// behind it, only memory of GStreamer's own waits in the queue.
    static func scaled(to formatName: String, width: Int, height: Int) -> [ElementDescription] {
      let format = "video/x-raw,format=\(formatName)"
      return [
        .convertFast,
        // For the pixel formats that the fast one passes through.
        .convert,
        .onlyCaps(format),
        .turnUpright,
        ElementDescription(
          factory: "videoscale", package: "gstreamer1.0-plugins-base",
          properties: [Property("add-borders", "true")]),
        .onlyCaps(
          format + ",width=\(max(1, width)),height=\(max(1, height)),pixel-aspect-ratio=1/1"),
        // The next frame is converted while this one is encoded.
        ElementDescription(
          factory: "queue", package: "libgstreamer1.0-0",
          properties: [
            Property("max-size-buffers", "2"), Property("max-size-bytes", "0"),
            Property("max-size-time", "0"),
          ]),
      ]
    }

    /// Room for encoded pictures that wait for the sound of their time, and the other way round.
    static let waitForTheOther = ElementDescription(
      factory: "queue", package: "libgstreamer1.0-0",
      properties: [
        Property("max-size-buffers", "0"), Property("max-size-bytes", "0"),
        Property("max-size-time", "3000000000"),
      ])

    static func onlyCaps(_ caps: String) -> ElementDescription {
      ElementDescription(
        factory: "capsfilter", package: "libgstreamer1.0-0", properties: [Property("caps", caps)])
    }

    static func writeFile(_ path: String) -> ElementDescription {
      ElementDescription(
        factory: "filesink", package: "libgstreamer1.0-0",
        // What an element has written must be in the file when the process is killed.
        properties: [Property("location", path), Property("buffer-mode", "unbuffered")])
    }
  }
#endif
