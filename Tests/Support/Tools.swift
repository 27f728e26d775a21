import Foundation

/// The path of a program in Tests/Tools.
package func tool(_ name: String) -> String {
  URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Tools/\(name)").path
}
