import Platform

/// The socket of a Wayland compositor, where libwayland looks for it.
package enum WaylandSocket {
  /// - Parameter name: a path, or a name in `XDG_RUNTIME_DIR`; nil for what `WAYLAND_DISPLAY` says.
  /// - Returns: nil if there is no name, or no directory for it.
  package static func path(_ name: String? = nil) -> String? {
    guard let name = name ?? environmentValue("WAYLAND_DISPLAY") else { return nil }
    if name.hasPrefix("/") { return name }
    return environmentValue("XDG_RUNTIME_DIR").map { "\($0)/\(name)" }
  }
}
