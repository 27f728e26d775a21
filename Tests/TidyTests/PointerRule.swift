/// Raw pointers live in few places: everything in Platform, the bus's folder Unsafe, and the
/// modules that wrap a C library. Elsewhere memory is a span.
enum PointerRule {
  static let modules: Set = ["Platform", "CaptureX11", "CaptureGStreamer", "UploadGStreamer"]
  static let folders = ["Sources/FrameBus/Unsafe/"]
  static let types = [
    "UnsafePointer", "UnsafeMutablePointer", "UnsafeRawPointer", "UnsafeMutableRawPointer",
    "UnsafeMutableBufferPointer", "UnsafeMutableRawBufferPointer", "OpaquePointer", "Unmanaged",
  ]

  static func check(_ file: SourceFile) -> [Finding] {
    guard file.isSwift, let module = file.module, !modules.contains(module),
      !folders.contains(where: file.path.hasPrefix)
    else { return [] }
    return file.findings(in: file.code, "a raw pointer outside the places that may hold one") {
      line in types.contains(where: line.contains)
    }
  }
}
