import CFuzzer
import FuzzSupport
import Platform

#if Media
  import CPlayedCompositor
  import CWayland
  import Capture
  import CaptureWayland
  import FrameBus

  /// Fuzzes what a Wayland compositor says: a whole capture of some frames from a compositor in
  /// this process, whose events come from the input.
  ///
  /// The first byte says which protocols there are, and what is captured; see CPlayedCompositor.c
  /// for the rest. It is only complete with the package trait Media.
  @main
  struct Program {
    static func main() {
      exitProcess(
        unsafe fuzzer_run { bytes, count in
          // SAFETY: libFuzzer says how many bytes there are; the compositor ends before it returns.
          let socket = unsafe played_compositor_begin(bytes, count)
          precondition(socket >= 0, "no compositor could be started")
          var input = unsafe FuzzInput(bytes, count: count)
          let choice = input.byte()
          // Its end is what the compositor's thread waits for.
          do { try Program.capture(Descriptor(owning: socket), choice) } catch { _ = "\(error)" }
          played_compositor_end()
          return 0
        })
    }

    /// The capture of one input, with a signal that is never raised.
    private static let stop = signal()
    private static let poolBytes = 1 << 20
    private static let rounds = 4

    private static func signal() -> StopSignal {
      do { return try StopSignal() } catch { fatalError("no signal: \(error)") }
    }

    private static func capture(_ socket: consuming Descriptor, _ choice: UInt8) throws {
      let compositor = try Compositor(socket, path: "played", stop: stop)
      check(compositor)
      var settings = CaptureSettings()
      settings.drawsCursor = choice & 2 != 0
      if choice & 4 != 0 { settings.region = PixelRect(x: 3, y: 5, width: 20, height: 30) }
      let target: WaylandTarget =
        choice & 8 == 0 ? .output(choice & 16 == 0 ? nil : "PLAYED-1") : .window("played-1")
      var link = try WaylandLink(compositor, WaylandOptions(settings, of: target), stop: stop)
      let memory = try MemoryFile(named: "played", byteCount: poolBytes)
      let number = memory.descriptor.number
      guard let pool = WaylandPool(compositor, number, Int32(poolBytes), stop: stop) else { return }
      for round in 0..<rounds {
        try captureFrame(by: &link, compositor, into: pool, waitsForDamage: round == 1)
        if choice & 32 == 0 { compositor.endFrame() } else { try link.cancelFrame() }
        check(compositor)
      }
      compositor.rest()
    }

    private static func captureFrame(
      by link: inout WaylandLink, _ compositor: Compositor, into pool: WaylandPool,
      waitsForDamage: Bool
    ) throws {
      let limit = Deadline.after(.seconds(2))
      guard let layout = try link.layout(isOwed: !waitsForDamage, until: limit) else { return }
      let format = layout.format
      precondition(format.byteCount == layout.stride * format.height)
      guard format.byteCount <= poolBytes, let buffer = pool.buffer(at: 0, layout) else { return }
      buffer.fill(waitsForDamage: waitsForDamage)
      while compositor.stage == WAYLAND_COPYING, !limit.isPast {
        try compositor.wait(until: limit, stop: stop)
      }
      guard compositor.stage == WAYLAND_READY else { return }
      _ = link.orientation
      let picture = PixelRect(x: 0, y: 0, width: format.width, height: format.height)
      for area in compositor.frame.changes(in: format).rects {
        precondition(area.intersection(picture) == area, "\(area) outside of \(picture)")
      }
    }

    private static func check(_ compositor: Compositor) {
      let outputs = compositor.outputs
      precondition(outputs.count <= Int(WAYLAND_MAXIMUM_OUTPUTS))
      for output in outputs {
        precondition(output.width > 0 && output.height > 0 && output.name.utf8.count < 200)
      }
      precondition(compositor.windows?.count ?? 0 <= Int(WAYLAND_MAXIMUM_WINDOWS))
    }
  }
#else
  @main
  struct Program {
    static func main() {
      // SAFETY: nothing is read.
      exitProcess(unsafe fuzzer_run { _, _ in 0 })
    }
  }
#endif
