import FrameBus
import Platform
import TestSupport
import Testing

@Suite struct FormatTests {
  @Test func smallerPicturesUseTheSamePoolAndLargerOnesANewOne() throws {
    let world = try World()
    var publisher = try world.publisher(width: 640, height: 480)
    var subscriber = try world.subscriber(.keepLatest(2)) { $0.holds = 4 }
    var generations: [UInt32] = []
    for (width, height) in [(640, 480), (320, 200), (1280, 720), (64, 64), (1280, 720)] {
      try publisher.setFormat(try .video(.xrgb8888, width: width, height: height))
      var loan = try publisher.loan()
      generations.append(loan.poolGeneration)
      var bytes = loan.bytes
      bytes.storeBytes(of: UInt64(width), as: UInt64.self)
      loan.publish()
      switch try subscriber.next(until: .after(.seconds(30))) {
      case .frame(let lease):
        #expect(lease.format.width == width)
        #expect(lease.byteCount == width * height * 4)
        #expect(number(of: lease) == UInt64(width))
      default: Issue.record("no frame of \(width)×\(height)")
      }
    }
    #expect(generations == [1, 1, 2, 2, 2])
    #expect(subscriber.droppedCount == 0)
  }

  @Test func aFrameHeldFromTheOldPoolStaysReadable() throws {
    let world = try World()
    var publisher = try world.publisher()
    var subscriber = try world.subscriber { $0.holds = 2 }
    try publishNumbered(&publisher)
    guard let held = try subscriber.poll() else {
      Issue.record("no frame")
      return
    }
    for width in stride(from: 2000, to: 8000, by: 1000) {
      try publisher.setFormat(try .video(.xrgb8888, width: width, height: 4))
      try publishNumbered(&publisher)
      guard case .frame(let lease) = try subscriber.next(until: .after(.seconds(30))) else {
        Issue.record("no frame of width \(width)")
        return
      }
      #expect(lease.format.width == width)
      #expect(number(of: held) == 1)
    }
  }

  @Test func framesInAPoolFromBeforeASubscriberCameAreCountedAsDroppedBeyondEight() throws {
    let world = try World()
    var publisher = try world.publisher { $0.ringDepth = 16 }
    for width in stride(from: 1000, through: 10_000, by: 1000) {
      try publisher.setFormat(try .video(.xrgb8888, width: width, height: 4))
      try publishNumbered(&publisher)
    }
    // An answer of the control plane: the next finds it knowing all pools.
    #expect(try listStreams(in: world.group).count == 1)
    let late = Shelf(try world.subscriber(.keepLatest(16)) { $0.start = .oldest })
    for expected in 3...10 { #expect(late.nextNumber() == UInt64(expected)) }
  }

  @Test func formatChangedTwiceWithoutAFrameBetweenDisturbsNoSubscriber() throws {
    let world = try World()
    var publisher = try world.publisher { $0.ringDepth = 4 }
    var subscriber = try world.subscriber(.keepLatest(4))
    for width in 1...40 {
      try publisher.setFormat(try .video(.xrgb8888, width: width, height: 4))
      try publisher.setFormat(try .video(.xrgb8888, width: width + 1, height: 4))
      try publishNumbered(&publisher)
      guard width.isMultiple(of: 4) else { continue }
      for expected in (width - 3)...width {
        guard let lease = try subscriber.poll() else {
          Issue.record("no frame \(expected)")
          return
        }
        let received = lease.format.width
        #expect(received == expected + 1)
      }
    }
  }

  @Test func aLoanKeepsTheFormatThatItWasFilledIn() throws {
    let world = try World()
    var publisher = try world.publisher(width: 64, height: 64) {
      $0.maxLoans = 3
      $0.ringDepth = 4
    }
    var subscriber = try world.subscriber(.keepLatest(4))
    let early = try publisher.loan()
    try publisher.setFormat(try .video(.xrgb8888, width: 640, height: 64))
    let late = try publisher.loan()
    try publisher.setFormat(try .video(.xrgb8888, width: 32, height: 64))
    var relabelled = try publisher.loan()
    relabelled.format = try .video(.xrgb8888, width: 16, height: 64)
    late.publish()
    early.publish()
    relabelled.publish()
    for width in [640, 64, 16] {
      guard case .frame(let lease) = try subscriber.next(until: .after(.seconds(30))) else {
        Issue.record("no frame of width \(width)")
        return
      }
      #expect(lease.format.width == width)
      #expect(lease.byteCount == width * 64 * 4)
    }
  }

  @Test func loansOneAfterTheOtherKeepTheFormatsTheyWereGiven() throws {
    let world = try World()
    var publisher = try world.publisher(width: 64, height: 64)
    var subscriber = try world.subscriber(.keepLatest(2))
    for width in [64, 32, 16, 16, 64, 48] {
      var loan = try publisher.loan()
      loan.format = try .video(.xrgb8888, width: width, height: 64)
      loan.publish()
      #expect(try subscriber.poll()?.format.width == width)
    }
  }

  @Test func layoutsAreGStreamersOwn() throws {
    let odd = try FrameFormat.video(.yuv420, width: 639, height: 479)
    #expect(odd.planes.map(\.stride) == [640, 320, 320])
    #expect(odd.planes.map(\.offset) == [0, 640 * 480, 640 * 480 + 320 * 240])
    #expect(odd.byteCount == 640 * 480 + 2 * 320 * 240)
    let packed = try FrameFormat.video(.rgb888, width: 3, height: 2)
    #expect(packed.planes.map(\.stride) == [12])
  }

  @Test func formatsThatLieAreRefused() throws {
    #expect(throws: FrameFormatError.wrongPlane(0)) {
      _ = try FrameFormat(
        kind: .video, fourcc: .xrgb8888, width: 10, height: 10,
        planes: [Plane(offset: 0, stride: 39)], byteCount: 400)
    }
    #expect(throws: FrameFormatError.wrongPlane(0)) {
      _ = try FrameFormat(
        kind: .video, fourcc: .xrgb8888, width: 10, height: 10,
        planes: [Plane(offset: 1, stride: 40)], byteCount: 400)
    }
    #expect(throws: FrameFormatError.wrongSize(width: 0, height: 10)) {
      _ = try FrameFormat.video(.xrgb8888, width: 0, height: 10)
    }
  }
}
