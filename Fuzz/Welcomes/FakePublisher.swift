import CFrameLayout
import FrameBus
import FuzzSupport
import Platform
import Synchronization

/// A publisher with two slots of a page each. Any word of its memory and messages can be changed.
final class FakePublisher: @unchecked Sendable {  // because only `said` is shared, under its lock
  private let world = FuzzWorld()
  private let listener: ListeningSocket
  private let boardFile: MemoryFile
  private let pageFile: MemoryFile
  private let poolFile: MemoryFile
  private let bell: BellPair
  private let board: Mapping
  private let said = Mutex<(welcome: [UInt8], pool: [UInt8])>(([], []))

  private static let ringDepth = 2
  private static let boardBytes = 4096

  init() {
    do {
      listener = try ListeningSocket(at: world.socketPath, mode: 0o600)
      boardFile = try MemoryFile(named: "board", byteCount: Self.boardBytes)
      pageFile = try MemoryFile(named: "page", byteCount: 4096)
      poolFile = try MemoryFile(named: "pool", byteCount: 8192)
      bell = try BellPair()
      board = try Mapping(boardFile, .readAndWrite)
      try boardFile.add(.size)
      try pageFile.add(.size)
      try poolFile.add(.size)
      try startThread(named: "fake publisher") { [self] in serve() }
    } catch { fatalError("no fake publisher: \(error)") }
    checkThatTheTruthIsBelieved()
  }

  /// Checks that the unchanged state is accepted; otherwise every input would be refused.
  private func checkThatTheTruthIsBelieved() {
    begin()
    do {
      var options = SubscriberOptions()
      options.start = .oldest
      var subscriber = try Subscriber(world.stream, in: world.group, options: options)
      guard try subscriber.poll() != nil else {
        fatalError("the fake publisher's frame is missing")
      }
    } catch { fatalError("the fake publisher is not believed: \(error)") }
  }

  // MARK: One input

  func play(_ input: inout FuzzInput) {
    begin()
    var subscriber: Subscriber?
    while !input.isEmpty {
      let what = input.byte()
      let offset = Int(input.number(bytes: 2))
      let value = input.number(bytes: 8)
      switch what % 4 {
      case 0: said.withLock { change(&$0.welcome, at: offset, to: value) }
      case 1: said.withLock { change(&$0.pool, at: offset, to: value) }
      case 2: store(value, at: offset % (Self.boardBytes / 8) * 8)
      default:
        if subscriber == nil { subscriber = attach(offset) }
        pollSubscriber(&subscriber)
      }
    }
    if subscriber == nil { subscriber = attach(0) }
    pollSubscriber(&subscriber)
  }

  private func attach(_ choice: Int) -> Subscriber? {
    var options = SubscriberOptions()
    options.start = .oldest
    options.policy = choice.isMultiple(of: 2) ? .keepLatest(2) : .latest
    return try? Subscriber(world.stream, in: world.group, options: options)
  }

  /// Receives a frame, if there seems to be one, and reads all of it.
  private func pollSubscriber(_ subscriber: inout Subscriber?) {
    for _ in 0..<4 {
      guard let lease = try? subscriber?.poll() else { return }
      let bytes = lease.bytes
      precondition(bytes.byteCount <= 8192, "a frame of \(bytes.byteCount) bytes in a small pool")
      for offset in 0..<bytes.byteCount {
        // SAFETY: the offset is inside the frame.
        _ = unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
      }
    }
  }

  // MARK: The valid state

  private func begin() {
    var header = fb_board()
    header.magic = Self.magic
    header.abi_version = UInt32(FB_ABI_VERSION)
    header.ring_depth = UInt32(Self.ringDepth)
    header.generation = 77
    header.state = UInt32(FB_STATE_LIVE)
    header.cursor = 1
    store(header, at: 0)
    var descriptor = fb_descriptor()
    descriptor.sequence = 1
    descriptor.pool_generation = 1
    descriptor.payload_bytes = 8
    descriptor.format_epoch = 1
    store(descriptor, at: Int(FB_BOARD_BYTES) + Int(FB_DESCRIPTOR_BYTES))
    var format = fb_format()
    format.epoch = 1
    format.kind = 4
    format.byte_count = 8
    format.rate_denominator = 1
    let formats = Int(FB_BOARD_BYTES) + Self.ringDepth * Int(FB_DESCRIPTOR_BYTES)
    store(format, at: formats + Int(FB_FORMAT_BYTES))

    let pool = fb_pool_description(generation: 1, slot_count: 2, slot_bytes: 4096)
    var welcome = fb_welcome()
    welcome.header = Self.header(Int(FB_MESSAGE_WELCOME))
    welcome.holds = 2
    welcome.cursor = 1
    welcome.generation = 77
    welcome.ring_depth = UInt32(Self.ringDepth)
    welcome.pool = pool
    let announced = fb_pool_message(
      header: Self.header(Int(FB_MESSAGE_POOL)),
      pool: fb_pool_description(generation: 2, slot_count: 2, slot_bytes: 4096),
      oldest: 1, reserved: 0)
    said.withLock { $0 = (Self.bytes(of: welcome), Self.bytes(of: announced)) }
  }

  private static let magic: UInt64 = 0x3130_5355_424d_5246

  private static func header(_ kind: Int) -> fb_message_header {
    fb_message_header(magic: magic, abi_version: UInt32(FB_ABI_VERSION), kind: UInt32(kind))
  }

  private static func bytes<Record: BitwiseCopyable>(of record: Record) -> [UInt8] {
    // SAFETY: the bytes are copied at once.
    unsafe withUnsafeBytes(of: record) { unsafe Array($0) }
  }

  private func store<Record: BitwiseCopyable>(_ record: Record, at offset: Int) {
    // SAFETY: callers pass offsets inside the board.
    unsafe board.base.storeBytes(of: record, toByteOffset: offset, as: Record.self)
  }

  /// Writes a number into a message. A number past its end extends the message.
  private func change(_ message: inout [UInt8], at offset: Int, to value: UInt64) {
    for index in 0..<8 {
      let at = offset % 140 + index
      let byte = UInt8(truncatingIfNeeded: value >> (8 * UInt64(index)))
      if at < message.count { message[at] = byte } else { message.append(byte) }
    }
  }

  // MARK: The other side

  /// Sends each subscriber the prepared messages, and keeps its connection until the next one.
  private func serve() {
    var guest: MessageSocket?
    while true {
      _ = poll(listener.descriptor.number, nil, until: .never)
      guard let socket = try? listener.accept() else { continue }
      guest = nil
      let (welcome, pool) = said.withLock { $0 }
      let page = fb_short_message(header: Self.header(Int(FB_MESSAGE_PAGE)), value: 0)
      _ = socket.send(bytes: Self.bytes(of: page), descriptors: [pageFile.descriptor.number])
      _ = socket.send(
        bytes: welcome,
        descriptors: [
          boardFile.descriptor.number, poolFile.descriptor.number, bell.hearing.number,
        ])
      _ = socket.send(bytes: pool, descriptors: [poolFile.descriptor.number])
      guest = consume socket
      withExtendedLifetime(guest) {}
    }
  }
}
