#if Media
  import Testing

  @testable import CaptureX11

  /// Which windows belong to a protected one, whatever their properties claim.
  @Suite struct ProtectedFamilyTests {
    /// A tree in which clients have IDs of 16 bits.
    private struct World {
      var tree = WindowTree(root: XWindow(1), idMask: 0xFFFF)

      /// Adds a top-level window.
      @discardableResult
      mutating func add(
        _ id: UInt32, in parent: UInt32 = 1, _ change: (inout WindowRelations) -> Void = { _ in }
      ) -> XWindow {
        tree.parents[XWindow(id)] = XWindow(parent)
        var relations = WindowRelations()
        change(&relations)
        tree.relations[XWindow(id)] = relations
        return XWindow(id)
      }

      func members(of named: UInt32...) -> [UInt32] {
        ProtectedFamily(of: Set(named.map(XWindow.init)), in: tree).members.map(\.id).sorted()
      }

      func frames(of named: UInt32) -> [UInt32] {
        ProtectedFamily(of: [XWindow(named)], in: tree).frames.map(\.id).sorted()
      }
    }

    @Test func dialogsOfDialogsBelongAndALoopOfOwnersEnds() {
      var world = World()
      world.add(0x20001)
      world.add(0x30001) { $0.owner = XWindow(0x20001) }
      world.add(0x40001) { $0.owner = XWindow(0x30001) }
      world.add(0x50001) { $0.owner = XWindow(0x50002) }
      world.add(0x50002) { $0.owner = XWindow(0x50001) }
      #expect(world.members(of: 0x20001) == [0x20001, 0x30001, 0x40001])
      #expect(world.members(of: 0x50002) == [0x50001, 0x50002])
    }

    @Test func windowOfTheGroupBelongsOnlyIfItIsAMenuOrDialog() {
      var world = World()
      world.add(0x20001) { $0.leaders = [XWindow(0x20009)] }
      world.add(0x20002) { $0.leaders = [XWindow(0x20009)] }
      world.add(0x30001) {
        $0.leaders = [XWindow(0x20009)]
        $0.isOverrideRedirect = true
      }
      world.add(0x30002) {
        $0.leaders = [XWindow(0x20009)]
        $0.owner = XWindow(1)
      }
      #expect(world.members(of: 0x20001) == [0x20001, 0x30001, 0x30002])
      // A protected leader protects all windows of its group.
      world.add(0x20009)
      #expect(
        world.members(of: 0x20009) == [0x20001, 0x20002, 0x20009, 0x30001, 0x30002])
    }

    @Test func menuBelongsByItsClientOrProcessWhateverOwnerItNames() {
      var world = World()
      world.add(0x20001) { $0.processID = 7 }
      world.add(0x20002)
      world.add(0x20003) { $0.isOverrideRedirect = true }
      world.add(0x30003) {
        $0.isOverrideRedirect = true
        $0.processID = 7
      }
      world.add(0x20004) {
        $0.isOverrideRedirect = true
        $0.owner = XWindow(0x20002)
      }
      // A dialog belongs to its owner alone, if that exists.
      world.add(0x20005) { $0.owner = XWindow(0x20002) }
      world.add(0x20006) { $0.owner = XWindow(0x99999) }
      let members: [UInt32] = [0x20001, 0x20003, 0x20004, 0x20006, 0x30003]
      #expect(world.members(of: 0x20001) == members)
      // Another client puts a window into the menu.
      world.add(0x70001, in: 0x20004)
      #expect(world.members(of: 0x20001) == members)
    }

    @Test func partOfAWindowIsProtectedAloneButOwnersMayBeParts() {
      var world = World()
      world.add(0x20001)
      world.tree.parents[XWindow(0x20002)] = XWindow(0x20001)
      world.add(0x20003) { $0.isOverrideRedirect = true }
      world.add(0x30001) { $0.owner = XWindow(0x20002) }
      #expect(world.members(of: 0x20002) == [0x20002, 0x30001])
      #expect(world.frames(of: 0x20002) == [])
      #expect(world.members(of: 0x20001) == [0x20001, 0x20003, 0x30001])
    }

    @Test func frameIsAllThatOtherClientsPutAroundTheWindow() {
      var world = World()
      world.add(0x90001) { $0.isOverrideRedirect = true }
      world.tree.parents[XWindow(0x90002)] = XWindow(0x90001)
      world.add(0x20001, in: 0x90002)
      // The window manager's own menu is not its.
      world.add(0x90003) { $0.isOverrideRedirect = true }
      #expect(world.frames(of: 0x20001) == [0x90001, 0x90002])
      #expect(world.members(of: 0x20001) == [0x20001])
      // Named itself, it takes along all that may be its menus.
      #expect(world.members(of: 0x90003) == [0x90001, 0x90003])
      world.tree.virtualRoots = [XWindow(0x90001)]
      #expect(world.frames(of: 0x20001) == [0x90002])
    }

    /// A hundred thousand windows of hostile clients take a moment, not hours.
    @Test func longChainsAreFollowedOnce() {
      var world = World()
      let count: UInt32 = 100_000
      for index in 2...count {
        world.add(index << 8 | 1, in: index == 2 ? 1 : (index - 1) << 8 | 1) {
          $0.owner = XWindow((index - 1) << 8 | 1)
          $0.isOverrideRedirect = true
        }
      }
      world.add(1 << 8 | 1)
      let family = ProtectedFamily(of: [XWindow(1 << 8 | 1)], in: world.tree)
      #expect(family.members.count == Int(count))
      #expect(
        world.tree.windows(among: family.members, inside: XWindow((count / 2) << 8 | 1)).count
          == Int(count / 2))
    }

    @Test func loopOfParentsEnds() {
      var world = World()
      world.add(0x20001, in: 0x30001)
      world.add(0x30001, in: 0x20001)
      #expect(world.frames(of: 0x20001) == [0x20001, 0x30001])
      #expect(world.tree.windows(among: [XWindow(0x20001)], inside: XWindow(5)).isEmpty)
      #expect(world.tree.windows(around: XWindow(0x20001)).count == 2)
    }
  }
#endif
