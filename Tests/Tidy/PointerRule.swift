/// Raw pointers live in few places: Platform, the modules that wrap a C library, and what is listed
/// here, a list that only gets shorter. Elsewhere memory is a span.
enum PointerRule {
  static let modules: Set = [
    "BridgeNATS", "Platform", "CInterface", "CapturePipeWire", "CaptureX11", "CaptureWayland",
    "CaptureGStreamer", "GStreamerLog", "UploadGStreamer", "UploadCamera", "WebRTC",
  ]
  static let places = [
    "Sources/FrameBus/Unsafe/", "Sources/FrameBus/Publisher/PublisherCore.swift",
    "Sources/CredentialStore/Sodium/", "Sources/Media/WHIP/Curl/", "Sources/Media/LivePage/Server/",
    "Sources/Media/ScreenCast/",
    "Sources/Adapters/DarwinNotifications/CF",
    "Sources/Adapters/DarwinNotifications/CoreFoundationTypes.swift",
  ]
  static let types = [
    "UnsafePointer", "UnsafeMutablePointer", "UnsafeRawPointer", "UnsafeMutableRawPointer",
    "UnsafeMutableBufferPointer", "UnsafeMutableRawBufferPointer", "OpaquePointer", "Unmanaged",
  ]

  static func check(_ file: SourceFile) -> [Finding] {
    guard file.isSwift, let module = file.module, !modules.contains(module),
      !places.contains(where: file.path.hasPrefix)
    else { return [] }
    return file.findings(in: file.code, "a raw pointer outside the places that may hold one") {
      line in types.contains(where: line.contains)
    }
  }
}
