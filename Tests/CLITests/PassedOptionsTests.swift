import ArgumentParser
import Capture
import CommandLineSupport
import Testing

/// Options that one program passes on to another arrive unchanged.
@Suite struct PassedOptionsTests {
  /// A command line with every option of a type, and its operands.
  struct Example: CustomTestStringConvertible {
    let type: any ParsableArguments.Type
    let options: [String]
    var operands: [String] = []

    var testDescription: String { "\(type)" }
    var line: [String] { options + (operands.isEmpty ? [] : ["--"] + operands) }
  }

  static let examples = [
    Example(
      type: GlobalOptions.self,
      options: ["--group=a.b", "--root=/r", "--role=host", "--json", "--quiet", "--verbose"]),
    Example(
      type: CaptureOptions.self,
      options: [
        "--stream=s", "--fps=30000/1001", "--size=64x48+1+2", "--sound=none", "--kind=mic",
        "--silence=7", "--frames=3", "--duration=0.1", "--backend=socket", "--protect=a",
        "--protect=0x1", "--orientation=6", "--while-saver=inhibit", "--content=window",
        "--session=0123456789abcdef", "--grant=5:3", "--no-cursor", "--force", "--format=yuyv",
        "--control=gain=1", "--control=zoom=2", "--secret=a/b", "--ca=x y",
      ], operands: ["screen:1"]),
    Example(
      type: CaptureOptions.self, options: ["--isolate", "--cursor", "--no-protect"],
      operands: ["-x"]),
    Example(type: CaptureOptions.self, options: ["--no-isolate", "--no-force"], operands: ["-x"]),
    Example(type: WindowOptions.self, options: [], operands: ["Budget 2027"]),
    Example(
      type: UploadOptions.self,
      options: [
        "--stream=a", "--stream=b", "--policy=keep:4", "--bitrate=4M", "--encoder=vp8",
        "--secret=a/b", "--server=https://h", "--frames=2", "--duration=1e-07", "--skew",
        "--allow-old", "--follow", "--retry-for=0.0", "--lost-after=2.5",
        "--credential=c/d", "--ca=x y", "--allow-http", "--stun=stun:h", "--turn=turn:h",
        "--turn=turns:i?transport=tcp", "--turn-credential=e/f", "--relay-only",
        "--profile=high", "--simulcast", "--least-bitrate=1M",
      ], operands: ["whip:https://h/x=y", "file:a.mkv"]),
    Example(type: UploadOptions.self, options: ["--bearer-fd=3"], operands: ["null"]),
    Example(
      type: ViewOptions.self,
      options: [
        "--listen=0.0.0.0:1", "--bitrate=1M", "--encoder=vp8", "--viewers=3", "--also=camera",
        "--also=window.*", "--embed-in=https://h", "--embed-in=http://h:1",
        "--public-url=https://h/x/", "--token=c/d", "--qr", "--credential=a/b", "--ca=x y",
        "--allow-http",
      ],
      operands: ["screen", "audio.app", "whep:https://h/x=y"]),
    Example(type: ViewOptions.self, options: ["--bearer-fd=3"], operands: ["whep:https://h/"]),
    Example(
      type: WHIPProbeOptions.self, options: ["--credential=a/b", "--ca", "", "--allow-http"],
      operands: ["https://h"]),
    Example(type: WHIPProbeOptions.self, options: ["--bearer-fd=3"], operands: ["https://h"]),
    Example(
      type: ReplaySaveOptions.self, options: ["--stream=a", "--last=30s", "--crashed"],
      operands: ["-x.mkv"]),
  ]

  /// Values that ArgumentParser fills in are passed on too.
  @Test(arguments: examples) func everyOptionArrivesUnchanged(example: Example) throws {
    let parsed = try example.type.parse(example.line)
    let passed = parsed.arguments
    #expect(Set(passed).isSuperset(of: example.line), "\(passed)")
    #expect(passed.suffix(example.operands.count) == example.operands[...])
    for name in Set(example.options.map(Self.name)) {
      #expect(
        passed.filter { Self.name($0) == name } == example.options.filter { Self.name($0) == name })
    }
    #expect(try example.type.parse(passed).arguments == passed)
  }

  @Test func examplesHaveEveryOptionOfTheHelp() throws {
    for type in Self.examples.map(\.type) {
      let tested = Self.examples.filter { $0.type == type }.flatMap(\.options).map(Self.name)
      let help = type.helpMessage(includeHidden: true)
      let names = help.split(separator: "\n")
        .compactMap { try? /^  (?:-[a-z], )?(--[a-z-]+)/.firstMatch(in: $0)?.output.1 }
      #expect(names.count > 2 || type == WindowOptions.self)
      #expect(Set(names.map(String.init)).subtracting(tested) == ["--help"], "\(help)")
    }
  }

  /// Between them, they have every option with each of its forms.
  static func settings() throws -> [CaptureSettings] {
    func settings(
      _ protection: WindowProtection?, _ texts: KeyValuePairs<CaptureSettings.Option, String>
    ) throws -> CaptureSettings {
      var settings = CaptureSettings()
      settings.protection = protection
      for (option, text) in texts { try settings.set(option, text) }
      return settings
    }
    return [
      CaptureSettings(),
      try settings(
        .on([WindowRule("keepassxc"), WindowRule("0x1")]),
        [
          .fps: "30000/1001", .size: "64x48+1+2", .orientation: "6", .cursor: "false",
          .backend: "socket", .force: "true", .silence: "0", .whileSaver: "capture",
          .content: "screen", .format: "yuyv", .control: "gain=1,zoom=-2",
          .secret: "a/b",
        ]),
      try settings(
        .off,
        [.fps: "60", .size: "64x48", .cursor: "true", .isolate: "true", .force: "false"]),
      try settings(.on([]), [.isolate: "false", .backend: "auto", .silence: "7"]),
    ]
  }

  /// A broadcast describes its capture by values, and the capture program parses a command line.
  @Test func settingsArriveUnchanged() throws {
    for settings in try Self.settings() {
      let line = settings.arguments
      #expect(try CaptureOptions.parse(line + ["--", "screen"]).settings() == settings, "\(line)")
      #expect(try CaptureSettingOptions.parse(line).settings() == settings, "\(line)")
    }
  }

  @Test func settingsHaveEveryOptionOfTheHelp() throws {
    let passed = try Self.settings().flatMap(\.arguments).map(Self.name)
    let help = CaptureSettingOptions.helpMessage()
    let names = help.split(separator: "\n").filter { $0.hasPrefix("  -") }.flatMap { line in
      line.prefix { $0 != "<" }.matches(of: /--[a-z-]+/).map { String($0.output) }
    }
    #expect(names.count > 8)
    #expect(Set(names).subtracting(passed) == ["--help"], "\(help)")
  }

  /// Shows that the tests above can fail.
  @Test func propertyWithAnotherNameThanItsOptionIsPassedOnUnderTheWrongName() throws {
    let parsed = try Misnamed.parse(["--right=1"])
    #expect(parsed.arguments == ["--wrong=1"])
    #expect(throws: (any Error).self) { try Misnamed.parse(parsed.arguments) }
  }

  private struct Misnamed: ParsableArguments {
    @Option(name: .customLong("right")) var wrong: Int
  }

  private static func name(_ option: String) -> String { String(option.prefix { $0 != "=" }) }
}
