#if Media
  import Upload

  /// What encoded pictures and sound end in: a container, and the place that it is written to.
  /// `EncodingDestination` knows only this, so that a further one joins by one conformance.
  protocol Outlet: AnyObject {
    /// What messages call it: a path or an address, without anything secret.
    var output: String { get }
    /// The encoder of sound that the container is used with.
    var soundEncoder: SoundEncoder { get }
    /// From H.264 in access units to the last element; one of them has a `soundPad`.
    var elements: [ElementDescription] { get }
    /// The same for sound alone.
    var elementsForSoundAlone: [ElementDescription] { get }

    /// Fails early on what cannot work. Leaves nothing behind.
    func prepare() throws(DestinationError)
    /// Called right before the first byte: keeps the place for this upload alone.
    func open() throws(DestinationError)
    /// Called with every frame: whether there is still room for what comes.
    func check() throws(DestinationError)
    /// What the other side said, without what it was told in confidence.
    func blanked(_ message: String) -> String
    /// Removes an output that nothing was written to.
    func removeEmpty()
  }

  extension Outlet {
    var elementsForSoundAlone: [ElementDescription] { elements }
    func open() throws(DestinationError) {}
    func check() throws(DestinationError) {}
    func blanked(_ message: String) -> String { message }
    func removeEmpty() {}
  }
#endif
