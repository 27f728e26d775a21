// CameraGrant: a connection to PipeWire with which a sandboxed program can offer a camera.
//
// A broadcast's host opens it and passes it to the extension, whose sandbox has no PipeWire: with
// the user's own socket it could listen to the microphone and see other cameras. The module refuses
// to offer anything itself.

import Platform

#if Media
  import CPipeWire
#endif

/// Why PipeWire gives no connection.
package struct CameraGrantError: Error, Hashable, Sendable, CustomStringConvertible {
  package let description: String
}

package enum CameraGrant {
  /// How long the server may take to answer.
  private static let answerLimitMs: Int32 = 5000

  /// Opens a connection that can add nodes of its own, and see and use nothing else. It can give
  /// itself no further permission.
  package static func open() throws(CameraGrantError) -> Descriptor {
    #if Media
      var failure = fb_camera_failure()
      // SAFETY: the call writes the structure only while it lasts.
      let number = unsafe fb_camera_grant(answerLimitMs, &failure)
      if number >= 0 { return Descriptor(owning: number) }
      // SAFETY: the text ends with a zero byte, and is copied at once.
      let text = unsafe withUnsafeBytes(of: failure.text) {
        unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      throw CameraGrantError(description: text.plain)
    #else
      throw CameraGrantError(description: "this build has no media parts")
    #endif
  }
}
