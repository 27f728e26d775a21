#if Media
  // The module UploadGStreamer: destinations that encode with GStreamer.
  //
  // It owns pipelines, encoders and containers. It refuses to subscribe to streams and to copy
  // frames: an element reads the slot that the publisher filled.

  import CGStreamer
  import Upload

  /// Starts GStreamer, once. If its plugin registry is outdated, scans all plugins, which takes
  /// seconds, and updates the registry if this process may write it.
  public func updatePluginRegistry() throws(DestinationError) { try GStreamerRuntime.start() }

  /// Starts GStreamer and checks for the elements of a pipeline.
  enum GStreamerRuntime {
    /// Starts GStreamer, once, and checks that every element of a chain is installed.
    static func require(_ elements: [ElementDescription]) throws(DestinationError) {
      try start()
      for element in elements {
        // SAFETY: the string lives during the call.
        guard unsafe element.factory.withCString({ unsafe upload_has_element($0) }) else {
          throw .missingElement(element.factory, package: element.package)
        }
      }
    }

    /// Whether an element is installed.
    static func has(_ element: ElementDescription) -> Bool {
      // SAFETY: the string lives during the call.
      unsafe element.factory.withCString { unsafe upload_names_element($0) }
    }

    static func start() throws(DestinationError) {
      try initialise()
      guard upload_register_converter() else {
        throw .mediaLibraryFailed("it does not register the element framebusconvert")
      }
      guard upload_register_encoder(), upload_register_simulcast() else {
        throw .mediaLibraryFailed("it does not register the element framebusencoder")
      }
    }

    private static func initialise() throws(DestinationError) {
      let message = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) {
        buffer -> String? in
        // SAFETY: the call gets the buffer's length; on failure the buffer holds a C string.
        guard let start = buffer.baseAddress else { return nil }
        return unsafe upload_start(start, buffer.count) ? nil : unsafe String(cString: start)
      }
      if let message { throw .mediaLibraryFailed(message) }
    }
  }

  /// An element of a pipeline, and its Debian package.
  struct ElementDescription {
    var factory: String
    /// The Debian package to install if the element is missing.
    var package: String
    var properties: [Property] = []
    /// Properties of the element's input pad.
    var padProperties: [Property] = []
    /// The sound pad of an element that takes both pictures and sound.
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

  /// Elements of several chains.
  extension ElementDescription {
    static let source = ElementDescription(
      factory: "appsrc", package: "gstreamer1.0-plugins-base")
    /// Converts the RGB formats of screens to I420; see UploadConverter.c. Part of this program.
    static let convertFast = ElementDescription(
      factory: "framebusconvert", package: "framebus")
    static let convert = ElementDescription(
      factory: "videoconvert", package: "gstreamer1.0-plugins-base")

    /// Turns each frame upright by its orientation; upright frames pass unchanged.
    static let turnUpright = ElementDescription(
      factory: "videoflip", package: "gstreamer1.0-plugins-good")

    /// Converts frames of any format, size and orientation to upright frames of one format and
    /// size: the beginning of every encoding chain. The format conversion is first because it reads
    /// the slot: after it, only GStreamer's own memory waits in the queue.
    static func scaled(to formatName: String, width: Int, height: Int) -> [ElementDescription] {
      let format = "video/x-raw,format=\(formatName)"
      return [
        .convertFast,
        // For the pixel formats that framebusconvert passes through.
        .convert,
        .onlyCaps(format),
        .turnUpright,
        ElementDescription(
          factory: "videoscale", package: "gstreamer1.0-plugins-base",
          properties: [Property("add-borders", "true")]),
        .onlyCaps(scaledCaps(formatName, width: width, height: height)),
        // The next frame is converted while this one is encoded.
        ElementDescription(
          factory: "queue", package: "libgstreamer1.0-0",
          properties: [
            Property("max-size-buffers", "2"), Property("max-size-bytes", "0"),
            Property("max-size-time", "0"),
          ]),
      ]
    }

    static func scaledCaps(_ formatName: String, width: Int, height: Int) -> String {
      "video/x-raw,format=\(formatName),width=\(max(1, width)),height=\(max(1, height)),"
        + "pixel-aspect-ratio=1/1"
    }

    /// Queues encoded pictures that wait for sound of the same time, and vice versa.
    static let waitForOtherTrack = ElementDescription(
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
        // Written data must be in the file even if the process is killed.
        properties: [Property("location", path), Property("buffer-mode", "unbuffered")])
    }
  }
#endif
