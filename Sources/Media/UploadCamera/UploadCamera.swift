#if Media
  // UploadCamera: a stream as a camera of PipeWire or of a loopback device (v4l2loopback), for
  // browsers and meeting programs.
  //
  // Readers get pictures of their own: a slot is read once for all of them, and no reader keeps it.
  // The module refuses to wait for a reader, and to encode.

  import Upload

  extension DestinationMaker {
    public static let camera = DestinationMaker([.camera]) {
      (named, setup) throws(DestinationError) in
      if let path = named.devicePath { return DeviceDestination(path) }
      return try NodeDestination(named.address, over: setup.cameraConnection)
    }
  }
#endif
