import Foundation
import Platform
import TestSupport
import Testing

#if DEBUG
  private let isOptimised = false
#else
  private let isOptimised = true
#endif

/// What a frame costs in C, seen from outside the process.
@Suite struct CostTests {
  @Test(
    .enabled(if: isOptimised, "code that is not optimised allocates: swift test -c release"),
    arguments: ["descriptor=0", "descriptor=1"])
  func aFrameAllocatesNothing(waiting: String) throws {
    try withWatchdog {
      let (fewPublished, fewReceived) = try allocations(ofFrames: 300, waiting)
      let (manyPublished, manyReceived) = try allocations(ofFrames: 2300, waiting)
      // The threads of the library allocate a few times more or less.
      #expect(manyPublished < fewPublished + 200, "\(fewPublished), then \(manyPublished)")
      #expect(manyReceived < fewReceived + 200, "\(fewReceived), then \(manyReceived)")
    }
  }

  /// Calls of the allocator by a publisher and a subscriber, from start to end.
  private func allocations(
    ofFrames frames: Int, _ waiting: String
  ) throws -> (published: Int, received: Int) {
    let world = try CWorld()
    try world.library.compile(
      InterfaceLibrary.programs + "/CountAllocations.c", as: "count.so",
      options: ["-shared", "-fPIC"])
    let preload = ["LD_PRELOAD": world.library.program("count.so")]
    let publisher = try world.c("publish", "frames=\(frames)", "intervalUs=200", with: preload)
    try publisher.waitForOutput("publishing")
    let subscriber = try world.c("subscribe", waiting, with: preload)
    return (try count(in: publisher), try count(in: subscriber))
  }

  private func count(in program: RunningProgram) throws -> Int {
    let errors = try program.finish().errors
    let match = try #require(errors.firstMatch(of: /allocations (\d+)/), "\(errors)")
    return try #require(Int(match.1))
  }
}

/// The programs in C under gcc's sanitizers, which see the memory and the locks of the program, and
/// the memory that the library allocates. scripts/sanitize instruments the library's own modules.
@Suite struct SanitizerTests {
  @Test(arguments: ["address", "thread", "undefined"])
  func programsInCHaveNoFaultUnderASanitizer(sanitizer: String) throws {
    try withWatchdog {
      let library = try InterfaceLibrary.shared.get()
      let rules = library.program("suppressions")
      // The library's atomics are not seen there, so what it frees looks like a race.
      try "called_from_lib:libframebus.so.0\n".write(
        toFile: rules, atomically: true, encoding: .utf8)
      for (name, arguments) in [("Arguments", []), ("Group", []), ("Threads", ["1000"])] {
        let world = try CWorld()
        let program = "\(name)-\(sanitizer)"
        try library.compile(
          InterfaceLibrary.programs + "/\(name).c", as: program,
          options: ["-fsanitize=\(sanitizer)", "-fno-sanitize-recover=all"])
        // Without random addresses, which ThreadSanitizer's shadow memory does not always survive.
        let result = try run(
          "setarch",
          ["-R", library.program(program), world.root.path, CWorld.groupName] + arguments,
          environment: [
            "TSAN_OPTIONS": "exitcode=66 suppressions=\(rules)",
            "ASAN_OPTIONS": "detect_leaks=0",
          ])
        #expect(result.status == .exited(0), "\(program): \(result.output)\(result.errors)")
      }
    }
  }
}
