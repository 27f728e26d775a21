#if Media
  import Platform
  import Upload

  /// Looks at the room on a disk while a file grows, so that the file can be ended properly before
  /// there is none left.
  final class SpaceWatch {
    private static let intervalNs: UInt64 = 500_000_000
    /// Enough for a container's index, however long the recording.
    private static let leastReserve: UInt64 = 1 << 20

    private let file: OutputFile
    private let reserve: UInt64
    private var nextNs: UInt64 = 0

    /// - Parameter bitsPerSecond: what the file grows by; two seconds of it are kept in reserve.
    init(_ file: OutputFile, bitsPerSecond: Int) {
      self.file = file
      reserve = max(Self.leastReserve, UInt64(clamping: bitsPerSecond / 8 * 2))
    }

    var isDue: Bool { monotonicNowNs() >= nextNs }

    /// Before the file is begun.
    func require() throws(DestinationError) {
      do throws(DestinationError) { try check() } catch {
        throw error.beforeTheFirstByte
      }
    }

    func check() throws(DestinationError) {
      nextNs = monotonicNowNs() &+ Self.intervalNs
      let freeBytes: UInt64
      do {
        freeBytes = try file.freeBytes()
      } catch {
        throw .cannotWrite(error)
      }
      if freeBytes < reserve { throw .diskFull(path: file.path, freeBytes: freeBytes) }
    }
  }

  extension DestinationError {
    /// The same where nothing was written, or nothing of it is kept.
    var beforeTheFirstByte: DestinationError {
      guard case .diskFull(let path, let freeBytes) = self else { return self }
      return .tooLittleSpace(path: path, freeBytes: freeBytes)
    }
  }
#endif
