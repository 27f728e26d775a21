
// In libframebus-dev, which has only Sources.
package.targets.removeAll { !($0.path ?? "").hasPrefix("Sources/") }
