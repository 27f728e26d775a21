#if Media
  import FrameBus
  import Testing

  @testable import UploadGStreamer

  /// A connection that carries so much, in simulated time; what does not fit waits.
  private struct SimulatedConnection {
    var control = LinkControl(maximum: 2_500_000)
    var bitsPerSecond = 100e6
    /// Whether what waits is seen as a longer round trip, not here.
    var waitsOnTheWay = false
    private var nowNs: UInt64 = 1_000_000_000
    private var waitingBits = 0.0
    private var arrivedBits = 0.0
    private(set) var longestWait = 0.0

    mutating func run(seconds: Double) {
      longestWait = 0
      for _ in 0..<Int(seconds * 10) {
        nowNs += 100_000_000
        waitingBits += Double(control.bitsPerSecond) / 10
        let carried = min(waitingBits, bitsPerSecond / 10)
        waitingBits -= carried
        arrivedBits += carried
        let wait = waitingBits / max(bitsPerSecond, 1)
        longestWait = max(longestWait, wait)
        let waitNs = UInt64(min(wait, 100) * 1e9)
        var sample = LinkSample(nowNs: nowNs, bytesArrived: UInt64(arrivedBits / 8))
        sample.roundTripNs = 40_000_000 + (waitsOnTheWay ? waitNs : 0)
        sample.backlogNs = waitNs
        sample.bytesUnsent = waitsOnTheWay ? 0 : UInt64(min(waitingBits / 8, 32_768))
        _ = control.update(sample)
        // What is older than a second is dropped.
        waitingBits = min(waitingBits, bitsPerSecond)
      }
    }
  }

  @Suite struct LinkControlTests {
    @Test(arguments: [true, false], [500_000.0, 1_000_000, 1_800_000])
    func bitrateFollowsTheConnectionAndComesBack(waitsOnTheWay: Bool, capacity: Double) {
      var connection = SimulatedConnection()
      connection.waitsOnTheWay = waitsOnTheWay
      connection.run(seconds: 5)
      #expect(connection.control.bitsPerSecond == 2_500_000)
      connection.bitsPerSecond = capacity
      connection.run(seconds: 8)
      connection.run(seconds: 30)
      let share = Double(connection.control.bitsPerSecond) / capacity
      #expect((0.5...1.3).contains(share), "\(share)")
      #expect(connection.longestWait < 0.6, "\(connection.longestWait)")
      connection.bitsPerSecond = 100e6
      connection.run(seconds: 15)
      #expect(connection.control.bitsPerSecond == 2_500_000)
    }

    @Test func connectionThatStandsStillLeavesATenth() {
      var connection = SimulatedConnection()
      connection.waitsOnTheWay = true
      connection.run(seconds: 2)
      connection.bitsPerSecond = 0
      connection.run(seconds: 20)
      #expect(connection.control.bitsPerSecond == 250_000)
      connection.bitsPerSecond = 100e6
      connection.run(seconds: 20)
      #expect(connection.control.bitsPerSecond == 2_500_000)
    }

    /// On a busy machine pictures wait for the encoder.
    @Test func slowEncoderIsNoSlowLink() {
      var control = LinkControl(maximum: 2_000_000)
      for second in 1...20 as ClosedRange<UInt64> {
        var sample = LinkSample(nowNs: second * 1_000_000_000, bytesArrived: second * 100_000)
        sample.backlogNs = 900_000_000
        _ = control.update(sample)
      }
      #expect(control.bitsPerSecond == 2_000_000)
    }

    @Test func requestedBitrateIsTheLimit() {
      var control = LinkControl(maximum: 2_000_000)
      control.limit(to: 4_000_000)
      #expect(control.bitsPerSecond == 4_000_000)
      control.limit(to: 50_000)
      #expect(control.bitsPerSecond == 50_000 && control.minimum == 50_000)
    }

    /// Counts of another process, such as libsrt's, may go back.
    @Test func countsThatGoBackChangeNothing() {
      var control = LinkControl(maximum: 2_000_000)
      var sample = LinkSample(nowNs: 1_000_000_000, bytesArrived: 1000)
      (sample.packetsSent, sample.packetsLost) = (1000, 500)
      _ = control.update(sample)
      let next = LinkSample(nowNs: 2_000_000_000, bytesArrived: 10)
      let hasChanged = control.update(next)
      #expect(!hasChanged && control.bitsPerSecond == 2_000_000)
    }
  }

  @Suite struct PictureStepsTests {
    @Test func fewBitsHalveRateThenSize() {
      var steps = PictureSteps(width: 1280, height: 720)
      var sizes: [PictureSize] = []
      let haveChanged = [2_700_000, 1_000_000, 900_000, 400_000, 100_000].map { rate in
        defer { sizes.append(steps.size(at: steps.step)) }
        return steps.follow(rate, of: 2_700_000, nowNs: 1_000_000_000)
      }
      #expect(haveChanged == [false, false, true, true, true])
      #expect(sizes.map(\.width) == [1280, 1280, 1280, 640, 320])
      #expect(sizes.map(\.height) == [720, 720, 720, 360, 180])
      #expect(steps.rate(FrameRate(30), at: steps.step) == FrameRate(30, 2))
    }

    @Test func stepUpWaits() {
      var steps = PictureSteps(width: 1280, height: 720)
      _ = steps.follow(400_000, of: 2_700_000, nowNs: 0)
      // Not by little, nor for a moment.
      let rates = [500_000, 2_700_000, 500_000, 2_700_000, 2_700_000, 2_700_000]
      let times = [5000, 6000, 7000, 8000, 9000, 9600] as [UInt64]
      let haveChanged = zip(rates, times).map { rate, time in
        steps.follow(rate, of: 2_700_000, nowNs: time * 1_000_000)
      }
      #expect(haveChanged == [false, false, false, false, false, true])
      #expect(steps.index == 0)
    }

    /// A user may want few bits for many pixels.
    @Test func requestedBitrateNeverChangesPictures() {
      var steps = PictureSteps(width: 3840, height: 2160)
      _ = steps.follow(200_000, of: 200_000, nowNs: 0)
      #expect(steps.index == 0)
    }

    @Test func smallPicturesStayLegible() {
      var steps = PictureSteps(width: 320, height: 240)
      _ = steps.follow(1000, of: 1_000_000, nowNs: 0)
      #expect(steps.size(at: steps.step) == PictureSize(width: 160, height: 120))
    }

    @Test func variableAndHugeRatesStay() {
      var steps = PictureSteps(width: 1280, height: 720)
      _ = steps.follow(400_000, of: 2_700_000, nowNs: 0)
      #expect(steps.rate(.variable, at: steps.step) == .variable)
      let slow = FrameRate(1, Int(Int32.max))
      #expect(steps.rate(slow, at: steps.step) == slow)
    }
  }
#endif
