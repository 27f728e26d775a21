import SharedDefaults

extension ExtensionRegistry {
  /// The key of the group's settings that names the extension which a picker selects first.
  public static let preferredKey = "preferredExtension"

  /// The extension that the group's settings prefer; nil for none, and for one that is not
  /// registered.
  public func preferredID() throws(BroadcastError) -> String? {
    let settings: SharedDefaults
    do { settings = try SharedDefaults(in: group) } catch { throw .settings(error) }
    guard let id = settings.string(forKey: Self.preferredKey) else { return nil }
    return try list().contains { $0.id == id } ? id : nil
  }
}
