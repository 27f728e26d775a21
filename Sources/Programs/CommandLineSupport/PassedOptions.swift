import ArgumentParser

/// Options that one FrameBus program parses and passes on to another.
///
/// Each property has its option's name; the suffix Text or Texts of a property whose text is not
/// checked yet does not count. A test parses and passes on every option.
extension ParsableArguments {
  /// The command line that a program with the same options parses to the same values.
  public var arguments: [String] {
    let operands = operands
    return optionArguments + (operands.isEmpty ? [] : ["--"] + operands)
  }

  /// The part of ``arguments`` with names, such as `--fps=30`.
  public var optionArguments: [String] {
    parsedProperties.flatMap { label, value in value.options(named: Self.optionName(label)) }
  }

  fileprivate var operands: [String] { parsedProperties.flatMap(\.value.operands) }

  private var parsedProperties: [(label: String, value: any ParsedProperty)] {
    Mirror(reflecting: self).children.compactMap { label, value in
      guard let label, let value = value as? any ParsedProperty else { return nil }
      return (label, value)
    }
  }

  /// - Parameter label: of a property wrapper, such as `_leastBitrate`.
  private static func optionName(_ label: String) -> String {
    var name = label.drop { $0 == "_" }
    for suffix in ["Text", "Texts"] where name.hasSuffix(suffix) {
      name = name.dropLast(suffix.count)
    }
    return name.map { $0.isUppercase ? "-\($0.lowercased())" : "\($0)" }.joined()
  }
}

/// A property wrapper of ArgumentParser, with its parsed value.
private protocol ParsedProperty {
  func options(named name: String) -> [String]
  var operands: [String] { get }
}

extension ParsedProperty {
  func options(named name: String) -> [String] { [] }
  var operands: [String] { [] }
}

extension Option: ParsedProperty {
  /// In one word, so that a text may begin with a dash. ArgumentParser accepts no empty text there.
  func options(named name: String) -> [String] {
    texts(wrappedValue).flatMap { $0.isEmpty ? ["--\(name)", ""] : ["--\(name)=\($0)"] }
  }
}

extension Flag: ParsedProperty {
  /// A flag that can be unset has two names, and is passed on if either was given.
  func options(named name: String) -> [String] {
    switch wrappedValue as? Bool {
    case true?: ["--\(name)"]
    case false? where Value.self == Bool?.self: ["--no-\(name)"]
    default: []
    }
  }
}

extension Argument: ParsedProperty {
  var operands: [String] { texts(wrappedValue) }
}

extension OptionGroup: ParsedProperty {
  func options(named name: String) -> [String] { wrappedValue.optionArguments }
  var operands: [String] { wrappedValue.operands }
}

/// The texts of a value: none for nil, several for a list.
private func texts(_ value: Any) -> [String] {
  let mirror = Mirror(reflecting: value)
  return switch mirror.displayStyle {
  case .optional?, .collection?: mirror.children.flatMap { texts($0.value) }
  default: ["\(value)"]
  }
}
