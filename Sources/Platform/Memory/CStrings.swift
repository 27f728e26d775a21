import Glibc

/// Calls `body` with the strings as C has them: a list of pointers that ends with a null one. All
/// of it is gone when the call returns.
package func withCStrings<Result>(
  _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
  // SAFETY: every copy is freed once, after the body; the list outlives the body.
  var copies = unsafe strings.map { unsafe strdup($0) } + [nil]
  defer { unsafe copies.forEach { unsafe free($0) } }
  return unsafe copies.withUnsafeMutableBufferPointer { unsafe body($0.baseAddress!) }
}

/// Calls `body` with the string as C has it, or with a null pointer.
package func withOptionalCString<Result>(
  _ string: String?, _ body: (UnsafePointer<CChar>?) -> Result
) -> Result {
  guard let string else { return body(nil) }
  // SAFETY: the copy that C sees lives until the body returns.
  return unsafe string.withCString { unsafe body($0) }
}
