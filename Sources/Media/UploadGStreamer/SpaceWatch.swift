#if Media
  import Platform
  import Upload

  /// Monitors free disk space while a file grows, so that the file can be finished before the disk
  /// is full.
  final class SpaceWatch {
    private static let intervalNs: UInt64 = 500_000_000
    /// Enough for a container's index, however long the recording.
    private static let leastReserve: UInt64 = 1 << 20

    private let file: OutputFile
    private let reserve: UInt64
    private var nextNs: UInt64 = 0

    /// - Parameter bitsPerSecond: the growth of the file; two seconds of it are kept in reserve.
    init(_ file: OutputFile, bitsPerSecond: Int) {
      self.file = file
      reserve = max(Self.leastReserve, UInt64(clamping: bitsPerSecond / 8 * 2))
    }

    var isDue: Bool { monotonicNowNs() >= nextNs }

    /// The check before the file is created.
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
    /// The corresponding error for an output that was not written, or is not kept.
    var beforeTheFirstByte: DestinationError {
      guard case .diskFull(let path, let freeBytes) = self else { return self }
      return .tooLittleSpace(path: path, freeBytes: freeBytes)
    }
  }
#endif
