import CVideo4Linux
import FrameBus
import Platform

/// The buffers of a running camera. With USERPTR they are slots: each is a loan as long as the
/// driver may write it. Otherwise they are the driver's memory, from which each picture is copied.
///
/// Used by one thread, which ends them before it closes the device.
package final class CameraBuffers {
  /// The number of buffers to ask for: one is being written, and the others keep the camera busy
  /// while this process waits for a processor.
  private static let wantedCount: UInt32 = 4
  /// A driver may need more.
  static let maximumCount = 8

  /// Whether the driver writes into slots.
  package private(set) var isZeroCopy = true
  private let port: video_port
  private let path: String
  /// Bytes that the driver may write for a picture.
  private let bufferBytes: Int
  /// Bytes of a whole picture, at least.
  private let pictureBytes: Int
  private var buffers: [Buffer] = []

  /// What the driver may write, while it is queued.
  private final class Buffer {
    var loan: FrameLoan?
    var memory: DeviceMapping?
    var isQueued = false
  }

  /// Gives the driver its buffers and starts the camera.
  package init(
    _ stream: borrowing CameraStream, _ publisher: inout Publisher
  ) throws(CameraError) {
    port = stream.device.port
    path = stream.device.path
    bufferBytes = stream.bufferBytes
    pictureBytes = stream.format.byteCount
    do throws(CameraError) {
      if try !queueSlots(&publisher) { try queueMemory(of: stream.device) }
      try check("VIDIOC_STREAMON", video_start(port))
    } catch {
      end()
      throw error
    }
  }

  /// For encoded pictures, which a decoder reads from the driver's memory.
  init(encodedBy device: borrowing CameraDevice, bufferBytes: Int) throws(CameraError) {
    port = device.port
    path = device.path
    self.bufferBytes = bufferBytes
    pictureBytes = 1
    do throws(CameraError) {
      try queueMemory(of: device)
      try check("VIDIOC_STREAMON", video_start(port))
    } catch {
      end()
      throw error
    }
  }

  /// Stops the camera and takes all buffers back. Idempotent.
  package func end() {
    // A device that is gone writes nothing.
    _ = video_stop(port)
    var none: UInt32 = 0
    buffers.removeAll()
    _ = unsafe video_request(port, isZeroCopy, &none)
  }

  // MARK: Queueing

  /// - Returns: false if the driver cannot write into slots.
  private func queueSlots(_ publisher: inout Publisher) throws(CameraError) -> Bool {
    var count = Self.wantedCount
    guard unsafe video_request(port, true, &count) == 0, count > 0 else { return false }
    buffers = (0..<min(Int(count), Self.maximumCount)).map { _ in Buffer() }
    for index in buffers.indices {
      let loan = try loan(from: &publisher)
      guard loan.byteCapacity >= bufferBytes, try queue(loan, at: index) else {
        end()
        return false
      }
    }
    return true
  }

  /// - Returns: false if the driver refuses memory such as this, which may have to be contiguous.
  private func queue(_ loan: consuming FrameLoan, at index: Int) throws(CameraError) -> Bool {
    var loan = loan
    let byteCount = UInt32(loan.byteCapacity)
    var bytes = loan.bytes
    // SAFETY: the slot stays mapped, and belongs to the driver alone, while the loan is kept below.
    let result = unsafe bytes.withUnsafeMutableBytes {
      video_queue_own(
        port, UInt32(index), UInt(bitPattern: $0.baseAddress), byteCount)
    }
    if result == 0 {
      buffers[index].loan = consume loan
      buffers[index].isQueued = true
      return true
    }
    let error = SystemError(code: -result, operation: "VIDIOC_QBUF", path: path)
    if error.isDeviceGone { throw .lost(path: path) }
    return false
  }

  private func queueMemory(of device: borrowing CameraDevice) throws(CameraError) {
    isZeroCopy = false
    var count = Self.wantedCount
    guard unsafe video_request(port, false, &count) == 0, count > 0 else {
      throw .noBuffers(path: path)
    }
    for index in 0..<min(count, UInt32(Self.maximumCount)) {
      var offset: UInt64 = 0
      var byteCount: UInt32 = 0
      try check("VIDIOC_QUERYBUF", unsafe video_buffer(port, index, &offset, &byteCount))
      guard byteCount >= pictureBytes, byteCount <= CameraEncoding.maximumByteCount,
        let start = Int(exactly: offset)
      else { throw .malformed(path: path, what: "buffers of \(byteCount) bytes") }
      let buffer = Buffer()
      do throws(SystemError) {
        buffer.memory = try DeviceMapping(
          device.descriptor, offset: start, byteCount: Int(byteCount))
      } catch { throw .refused(error) }
      buffers.append(buffer)
      try check("VIDIOC_QBUF", video_queue(port, index))
      buffer.isQueued = true
    }
  }

  // MARK: Pictures

  /// A picture that the driver has written.
  package struct Picture {
    /// Its buffer, checked.
    let index: Int
    let sequence: UInt32
    let time: CameraTime
    /// As the driver says.
    let byteCount: Int
    /// Whether it is whole, as far as the driver says.
    package let isWhole: Bool
  }

  /// Takes the next picture; nil if there is none yet.
  package func next() throws(CameraError) -> Picture? {
    var frame = video_frame()
    let result = unsafe video_dequeue(port, isZeroCopy, &frame)
    if result != 0, SystemError(code: -result, operation: "").isNothingYet { return nil }
    try check("VIDIOC_DQBUF", result)
    guard let index = Int(exactly: frame.index), buffers.indices.contains(index),
      buffers[index].isQueued
    else { throw .malformed(path: path, what: "buffer \(frame.index)") }
    buffers[index].isQueued = false
    guard frame.offset == 0 else {
      throw .malformed(path: path, what: "a picture \(frame.offset) bytes behind its beginning")
    }
    return Picture(
      index: index, sequence: frame.sequence,
      time: CameraTime(timestampNs: frame.timestampNs, isMonotonic: frame.isMonotonic),
      byteCount: Int(frame.bytesUsed),
      isWhole: !frame.isDamaged && Int(frame.bytesUsed) >= pictureBytes)
  }

  /// The loan with a picture's bytes. Its buffer is queued again.
  /// - Parameter isLast: whether the camera is not used any more, so that nothing is queued.
  package func takeLoan(
    of picture: Picture, _ publisher: inout Publisher, isLast: Bool
  ) throws(CameraError) -> FrameLoan {
    if isZeroCopy {
      guard let full = buffers[picture.index].loan.take() else {
        preconditionFailure("buffer \(picture.index) has no loan")
      }
      if isLast { return full }
      guard try queue(loan(from: &publisher), at: picture.index) else {
        throw .malformed(path: path, what: "it takes slots no longer")
      }
      return full
    }
    var loan = try loan(from: &publisher)
    var bytes = loan.bytes
    buffers[picture.index].memory?.copy(pictureBytes, to: &bytes)
    try checkMemory(of: picture)
    if !isLast { try putBack(picture) }
    return loan
  }

  /// Reads a picture in the driver's memory.
  /// - Returns: nil if it is not in there, as far as the driver says.
  func read<Result>(
    _ picture: Picture, _ body: (RawSpan) -> Result
  ) throws(CameraError) -> Result? {
    let buffer = buffers[picture.index]
    guard picture.byteCount <= buffer.memory?.byteCount ?? 0 else { return nil }
    let result = buffer.memory?.withBytes(picture.byteCount, body)
    try checkMemory(of: picture)
    return result
  }

  private func checkMemory(of picture: Picture) throws(CameraError) {
    guard buffers[picture.index].memory?.isLost == true else { return }
    throw .malformed(path: path, what: "buffer \(picture.index) where it has no memory")
  }

  /// Queues the buffer of a picture that is not published.
  package func putBack(_ picture: Picture) throws(CameraError) {
    if let loan = buffers[picture.index].loan.take() {
      guard try queue(loan, at: picture.index) else {
        throw .malformed(path: path, what: "it takes slots no longer")
      }
    } else {
      try check("VIDIOC_QBUF", video_queue(port, UInt32(picture.index)))
      buffers[picture.index].isQueued = true
    }
  }

  private func loan(from publisher: inout Publisher) throws(CameraError) -> FrameLoan {
    do { return try publisher.loan() } catch { throw .publishing(.loan(error)) }
  }

  private func check(_ operation: String, _ result: Int32) throws(CameraError) {
    if result == 0 { return }
    let error = SystemError(code: -result, operation: operation, path: path)
    if error.isDeviceGone { throw .lost(path: path) }
    throw error.isBusy ? .busy(path: path) : .refused(error)
  }
}
