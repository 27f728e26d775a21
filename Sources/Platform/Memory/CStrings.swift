import Glibc

/// Calls `body` with the strings as C strings: a null-terminated list of pointers, valid only
/// during the call.
package func withCStrings<Result>(
  _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
  // SAFETY: every copy is freed once, after the body; the list outlives the body.
  var copies = unsafe strings.map { unsafe strdup($0) } + [nil]
  defer { unsafe copies.forEach { unsafe free($0) } }
  return unsafe copies.withUnsafeMutableBufferPointer { unsafe body($0.baseAddress!) }
}

/// Calls `body` with the string as a C string, or with a null pointer.
package func withOptionalCString<Result>(
  _ string: String?, _ body: (UnsafePointer<CChar>?) -> Result
) -> Result {
  guard let string else { return body(nil) }
  // SAFETY: the copy that C sees lives until the body returns.
  return unsafe string.withCString { unsafe body($0) }
}
