import AppGroup
import CLogLayout
import Platform

extension Segment {
  /// Creates the segment of a new run, with its storage allocated. It gets its name when it is
  /// complete and locked, so an unlocked segment always belongs to a dead run.
  static func make(
    _ role: Role, _ options: LogOptions, in directory: borrowing Directory
  ) throws(SystemError) -> Segment {
    sweep(directory)
    let temporary = temporaryName(prefix: RunName.temporaryPrefix)
    let file = try directory.makeFile(
      temporary, byteCount: Int(LG_SEGMENT_RECORDS) + options.segmentBytes, mode: 0o640)
    do throws(SystemError) {
      guard try file.lockByte(0) else {
        throw SystemError.busy(path: directory.path(of: temporary))
      }
      let wallNs = wallNowNs()
      let name = RunName(role, wallNs: wallNs, pid: currentProcessID())
      let asked = options.session ?? environmentValue("FRAMEBUS_SESSION")
      let session = asked.flatMap { RunHeader.isSession($0) ? $0 : nil }
      let header = RunHeader(
        role, session: session ?? String(name.text.suffix(Int(LG_SESSION_BYTES))),
        capacity: options.segmentBytes, wallNs: wallNs)
      let segment = try Segment(name, header, file)
      try directory.rename(temporary, to: name.segmentName, replacing: false)
      return segment
    } catch {
      try? directory.removeFile(temporary)
      throw error
    }
  }

  /// Removes incomplete segments that dead processes of this user left over a minute ago.
  private static func sweep(_ directory: borrowing Directory) {
    let limit = Int64(clamping: wallNowNs()) - 60_000_000_000
    for name in (try? directory.names()) ?? [] where name.hasPrefix(RunName.temporaryPrefix) {
      let status = (try? directory.status(of: name)) ?? nil
      guard let status, status.ownerID == currentUserID(), status.changedAtNs < limit else {
        continue
      }
      try? directory.removeFile(name)
    }
  }
}
