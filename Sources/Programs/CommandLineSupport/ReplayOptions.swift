import ArgumentParser
import FrameBus

/// The options of `framebus replay save` and the program behind it.
public struct ReplaySaveOptions: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "File to write: PATH.mkv or PATH.mp4.", discussion: "An existing file is replaced.",
      valueName: "file"))
  public var path: String

  @OptionGroup public var choice: ReplayStreamOption

  @Option(
    help: ArgumentHelp(
      "Save the newest part alone, such as 30s.",
      discussion: "The default is the length that the upload was started with.",
      valueName: "length"))
  public var last: String?

  @Flag(help: "Save what a crashed uploader left, not a running one's.")
  public var crashed = false

  public init() {}

  public func stream() throws(UsageError) -> StreamName { try choice.stream() }
}

/// The stream whose replay a verb is about.
public struct ReplayStreamOption: ParsableArguments {
  @Option(
    name: .customLong("stream"),
    help: ArgumentHelp(
      "Stream of the replay (default: \(DefaultStream.name)).", valueName: "name"))
  public var streamText: String?

  public init() {}

  public func stream() throws(UsageError) -> StreamName {
    do throws(StreamNameError) { return try StreamName(streamText ?? DefaultStream.name) } catch {
      throw UsageError("\(error)")
    }
  }
}
