#if Media
  import TestSupport
  import Testing

  @Suite struct UselessOptionTests {
    @Test(
      arguments: [
        (["file:out.mkv", "--retry-for", "3"], "--retry-for has no effect with file:"),
        (["null", "--lost-after", "3"], "--lost-after has no effect with null"),
        (["srt://h:1", "--lost-after", "3"], "--lost-after has no effect with srt:"),
        (["hls:.", "file:out.mkv", "--retry-for", "3"], "no effect with hls: and file:"),
      ])
    func optionsOfAConnectionAreRefusedWithoutOne(arguments: [String], reason: String) throws {
      let root = try TemporaryRoot()
      let result = try run("framebus", ["upload", "--root", root.path] + arguments)
      #expect(result.status == .exited(2), "\(result.errors)")
      #expect(result.errors.contains(reason), "\(result.errors)")
    }
  }
#endif
