import ArgumentParser
import Capture

/// The operand of `framebus windows`.
public struct WindowOptions: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "Window to show: ID, title, program, or pick.",
      discussion: "With pick, the user clicks on it. The default is all windows.",
      valueName: "window"))
  public var window: String?

  public init() {}

  public func selector() throws(UsageError) -> WindowSelector? {
    do { return try window.map { try WindowSelector($0) } } catch { throw UsageError("\(error)") }
  }
}
