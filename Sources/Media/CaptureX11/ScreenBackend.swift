#if Media
  /// How pixels are transferred from the X server.
  public enum ScreenBackend: String, Hashable, Sendable, CaseIterable {
    /// ``shm`` where the server can map this process's memory, else ``socket``.
    case automatic = "auto"
    /// The server writes into the pool (MIT-SHM); no copy in this process.
    case shm
    /// The server sends the pixels over its socket, and they are copied into the slot: slower,
    /// but works with remote displays.
    case socket
    /// The server writes into private memory, which is copied into the slot once: no client of the
    /// display can then write into published frames.
    case isolated
  }
#endif
