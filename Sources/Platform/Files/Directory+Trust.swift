import Glibc

/// Why a path cannot be trusted: another user could change where it leads.
package enum PathError: Error, Hashable, Sendable {
  case system(SystemError)
  case foreignOwner(path: String, ownerID: UInt32)
  case writableByOthers(path: String, mode: UInt32)
  case foreignLink(path: String, ownerID: UInt32)
  case notDirectory(path: String, kind: FileStatus.Kind)
  case tooManyLinks(path: String)

  /// The problem, as a clause.
  package var problem: String {
    switch self {
    case .system(let error): error.description
    case .foreignOwner(let path, let uid): "\(path) belongs to \(userText(uid))"
    case .writableByOthers(let path, let mode):
      "\(path) can be written by others (mode \(octal(mode)))"
    case .foreignLink(let path, let uid):
      "\(path) is a symbolic link that \(userText(uid)) made"
    case .notDirectory(let path, let kind): "\(path) is a \(kind.rawValue), not a directory"
    case .tooManyLinks(let path): "\(path) leads through more than 40 symbolic links"
    }
  }

  /// The advice, as a clause.
  package var advice: String {
    switch self {
    case .system(let error) where error.code == EACCES:
      "ask the owner of the first closed directory on the path for `chmod o+x`"
    case .system: "check the path"
    case .foreignOwner(let path, _):
      "choose another directory, or have root change its owner: chown \(path)"
    case .writableByOthers(let path, _): "run `chmod go-w \(path)`"
    case .foreignLink(let path, _): "remove it, or have root create it: \(path)"
    case .notDirectory(let path, _): "move it away: \(path)"
    case .tooManyLinks: "name the directory itself"
    }
  }

  package var isNotFound: Bool {
    if case .system(let error) = self { error.code == ENOENT } else { false }
  }
  package var isNotPermitted: Bool {
    if case .system(let error) = self { error.code == EACCES } else { false }
  }
}

extension PathError: SystemFailure {
  package init(_ error: SystemError) { self = .system(error) }
}

extension Directory {
  /// Opens an absolute path step by step, so that only users in `trusting` can decide where it
  /// leads: each directory belongs to one of them and no other user may write there (except in a
  /// sticky directory, or by the private group of its owner), and links are followed only if one of
  /// them created the link.
  /// - Parameter makingMode: permission bits for missing directories, which are then created; nil
  ///   creates none.
  /// - Parameter isPassage: opens the directory for searching only, as a confined process may.
  /// - Returns: the directory; its `path` has no links.
  package static func openTrusted(
    path: String, trusting: Set<UInt32>, makingMode: UInt32? = nil, isPassage: Bool = false
  ) throws(PathError) -> Directory {
    var names = Array(path.split(separator: "/").map(String.init).reversed())
    var current = try PathError.attempt(Directory.passage("/"))
    var linkCount = 0
    while let name = names.popLast() {
      if name == "." { continue }
      guard let status = try current.statusOrMade(name, makingMode) else {
        throw .system(SystemError(code: ENOENT, operation: "open", path: current.path(of: name)))
      }
      if status.kind == .symbolicLink {
        linkCount += 1
        if linkCount > 40 { throw .tooManyLinks(path: path) }
        let linkPath = current.path(of: name)
        guard trusting.contains(status.ownerID) else {
          throw .foreignLink(path: linkPath, ownerID: status.ownerID)
        }
        let text = try PathError.attempt(current.linkText(of: name))
        names += text.split(separator: "/").map(String.init).reversed()
        if text.hasPrefix("/") {
          current = try PathError.attempt(Directory.passage("/"))
        }
        continue
      }
      current = try current.trustedChild(
        name, kind: status.kind, trusting, isListed: names.isEmpty && !isPassage)
    }
    return current
  }

  private borrowing func statusOrMade(
    _ name: String, _ makingMode: UInt32?
  ) throws(PathError) -> FileStatus? {
    do {
      if let status = try status(of: name) { return status }
      guard let makingMode else { return nil }
      do {
        _ = try makeDirectory(name, mode: makingMode)
      } catch  where error.code == EEXIST {
        // Another process created it first; it is checked like any other directory.
      }
      return try status(of: name)
    } catch {
      throw .system(error)
    }
  }

  private borrowing func trustedChild(
    _ name: String, kind: FileStatus.Kind, _ trusting: Set<UInt32>, isListed: Bool
  ) throws(PathError) -> Directory {
    if kind != .directory { throw .notDirectory(path: path(of: name), kind: kind) }
    let child = try PathError.attempt { () throws(SystemError) in
      isListed ? try openDirectory(name) : try openPassage(name)
    }
    let status = try PathError.attempt(child.status())
    try status.requireTrusted(path: child.path, trusting)
    if name != ".." { return child }
    // The parent directory's path: the current one without its last name.
    let parent = path.split(separator: "/").dropLast().joined(separator: "/")
    return Directory(owning: child.intoDescriptor(), path: "/" + parent)
  }

  package consuming func intoDescriptor() -> Descriptor { descriptor }
}

extension FileStatus {
  /// Checks that only trusted users can change a directory.
  package func requireTrusted(path: String, _ trusting: Set<UInt32>) throws(PathError) {
    guard trusting.contains(ownerID) else {
      throw .foreignOwner(path: path, ownerID: ownerID)
    }
    if isSticky { return }
    if isWritableByEverybody || isWritableByGroup && !isPrivateGroup(groupID, of: ownerID) {
      throw .writableByOthers(path: path, mode: mode)
    }
  }
}
