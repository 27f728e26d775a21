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
  func receivingAFrameAllocatesNothing(waiting: String) throws {
    try withWatchdog {
      let counts = try [300, 2300].map { frames in
        let world = try CWorld()
        // Lossless, so that as many frames are received.
        let publisher = try world.swift(
          "publish", "frames=\(frames)", "intervalUs=100", "lossless=1", "wait=1")
        try publisher.waitForOutput("publishing")
        let subscriber = try world.c("subscribe", "policy=lossless", waiting, with: counting(world))
        let count = try count(in: subscriber)
        #expect(subscriber.output.text.contains("received \(frames) dropped 0"))
        return count
      }
      // The threads of the library allocate a few times more or less.
      #expect(counts[1] < counts[0] + 200, "\(counts)")
    }
  }

  @Test(.enabled(if: isOptimised, "code that is not optimised allocates: swift test -c release"))
  func publishingAFrameAllocatesNothing() throws {
    try withWatchdog {
      let counts = try [300, 2300].map { frames in
        let world = try CWorld()
        let publisher = try world.c(
          "publish", "frames=\(frames)", "intervalUs=200", with: counting(world))
        try publisher.waitForOutput("publishing")
        let subscriber = try world.c("subscribe")
        let count = try count(in: publisher)
        try subscriber.finish()
        return count
      }
      #expect(counts[1] < counts[0] + 200, "\(counts)")
    }
  }

  /// Variables with which a program says how often it has called the allocator.
  private func counting(_ world: CWorld) -> [String: String] {
    ["LD_PRELOAD": world.library.program("count.so")]
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
      let programs = [
        ("Arguments", []), ("Descriptions", []), ("Group", []), ("Threads", ["1000"]),
      ]
      for (name, arguments) in programs {
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
