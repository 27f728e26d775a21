/// A window's X ID as users write it: `0x2a00007`, as `xwininfo` and `framebus windows` print it,
/// or decimal digits, as `xwininfo -int` does. A text of this form never names a program.
package enum WindowID: Hashable, Sendable {
  case id(UInt32)
  /// Written as an ID that no window can have.
  case malformed

  /// - Returns: nil for a name.
  package init?(_ text: String) {
    let isHexadecimal = text.hasPrefix("0x") || text.hasPrefix("0X")
    guard isHexadecimal || !text.isEmpty && text.allSatisfy({ ("0"..."9").contains($0) })
    else { return nil }
    let id = isHexadecimal ? UInt32(text.dropFirst(2), radix: 16) : UInt32(text)
    // "0x+1" is not one, although it can be parsed.
    let isSigned = text.contains { $0 == "+" || $0 == "-" }
    self = if let id, id != 0, !isSigned { .id(id) } else { .malformed }
  }
}
