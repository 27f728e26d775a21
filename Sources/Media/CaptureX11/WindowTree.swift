#if Media
  /// The windows of a screen as far as the server has reported them, and what they belong to. As
  /// the reports arrive one by one, parents may form a loop for a moment; nothing follows it twice.
  struct WindowTree {
    let root: XWindow
    /// The bits of an ID that its client chooses.
    let idMask: UInt32
    /// All windows but the root.
    var parents: [XWindow: XWindow] = [:]
    /// Of all top-level windows.
    var relations: [XWindow: WindowRelations] = [:]
    /// Windows that a window manager shows in place of the root (_NET_VIRTUAL_ROOTS).
    var virtualRoots: Set<XWindow> = []

    init(root: XWindow, idMask: UInt32) {
      self.root = root
      self.idMask = idMask
    }

    func contains(_ window: XWindow) -> Bool { window == root || parents[window] != nil }

    /// The client that created a window.
    func client(of window: XWindow) -> UInt32 { window.id & ~idMask }

    /// Whether a window lies in the root, or in a window of another client, such as its frame.
    func isTopLevel(_ window: XWindow) -> Bool {
      guard let parent = parents[window] else { return false }
      return parent == root || client(of: parent) != client(of: window)
    }

    mutating func remove(_ window: XWindow) {
      parents[window] = nil
      relations[window] = nil
    }

    /// The windows of other clients that some windows lie in: their frames. A program that embeds
    /// a window counts as its frame, because any client can write the properties of both.
    func frames(around windows: some Sequence<XWindow>) -> Set<XWindow> {
      var frames: Set<XWindow> = []
      for window in windows {
        guard let parent = parents[window], client(of: parent) != client(of: window)
        else { continue }
        var next = parent
        while next != root, !virtualRoots.contains(next), frames.insert(next).inserted,
          let parent = parents[next]
        { next = parent }
      }
      return frames
    }

    /// A window, and the top-level window of the same client that it lies in; none if it does not
    /// exist.
    func owners(_ window: XWindow) -> [XWindow] {
      guard parents[window] != nil else { return [] }
      var top = window
      // Deeper ones are not those of an honest client.
      for _ in 0..<64 {
        guard !isTopLevel(top), let parent = parents[top] else { break }
        top = parent
      }
      return [window, top]
    }

    /// The windows among some that lie in another one, at any depth.
    func windows(among some: Set<XWindow>, inside outer: XWindow) -> Set<XWindow> {
      outer == root ? some : windows(among: some, insideAny: [outer]).subtracting([outer])
    }

    /// The windows among some that are among others, or lie in one of them, at any depth.
    func windows(among some: Set<XWindow>, insideAny outers: Set<XWindow>) -> Set<XWindow> {
      var isInside = Dictionary(uniqueKeysWithValues: outers.map { ($0, true) })
      for window in some {
        var path: [XWindow] = []
        var next = window
        while isInside[next] == nil {
          isInside[next] = false
          path.append(next)
          guard let parent = parents[next] else { break }
          next = parent
        }
        for passed in path { isInside[passed] = isInside[next] }
      }
      return some.filter { isInside[$0] == true }
    }

    /// Windows and all that they lie in, up to another one.
    func windows(around some: Set<XWindow>, upTo end: XWindow) -> Set<XWindow> {
      var found: Set<XWindow> = []
      for window in some {
        var next: XWindow? = window
        while let current = next, found.insert(current).inserted {
          next = current == end ? nil : parents[current]
        }
      }
      return found
    }

    /// A window and all that it lies in.
    func windows(around window: XWindow) -> Set<XWindow> {
      var found: Set<XWindow> = []
      var next: XWindow? = window
      while let current = next, found.insert(current).inserted { next = parents[current] }
      return found
    }
  }

  /// The windows to be blackened: those that a rule names, what belongs to them, and all frames.
  struct ProtectedFamily {
    private(set) var members: Set<XWindow>
    let frames: Set<XWindow>

    /// Every window is visited once, whatever their properties claim.
    init(of named: Set<XWindow>, in tree: WindowTree) {
      var members = named
      var followers = named.isEmpty ? [:] : Self.followers(in: tree)
      var rest = Array(named)
      while let window = rest.popLast() {
        // A part of a window is protected alone, without its client's menus.
        let relations = tree.relations[window]
        let ties =
          relations?.passing(from: window, of: tree.client(of: window)) ?? [.window(window)]
        var found = ties.flatMap { followers.removeValue(forKey: $0) ?? [] }
        if let icon = relations?.icon, tree.parents[icon] != nil { found.append(icon) }
        rest += found.filter { members.insert($0).inserted }
      }
      frames = tree.frames(around: members)
      self.members = members
    }

    private static func followers(in tree: WindowTree) -> [WindowRelations.Tie: [XWindow]] {
      var followers: [WindowRelations.Tie: [XWindow]] = [:]
      for (window, relations) in tree.relations {
        let ties = relations.followed(
          by: window, of: tree.client(of: window),
          owners: relations.owner.map { tree.owners($0) } ?? [])
        for tie in ties { followers[tie, default: []].append(window) }
      }
      return followers
    }
  }
#endif
