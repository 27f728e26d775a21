import CSessionBus
import CredentialStore
import Platform

/// What to ask the portal for.
package struct ScreenCastRequest: Sendable {
  /// A bit of the portal's interface: 1 for a monitor, 2 for a window, 4 for a virtual monitor.
  package var sourceType: UInt32
  package var drawsCursor: Bool
  /// How long the portal may take to answer a call.
  package var answerLimit = Duration.seconds(10)
  /// How long the user may take to choose.
  package var dialogLimit = Duration.seconds(300)

  package init(sourceType: UInt32, drawsCursor: Bool) {
    self.sourceType = sourceType
    self.drawsCursor = drawsCursor
  }
}

/// A session of the portal, which ends with this value. Confined to one thread.
@safe package final class ScreenCastSession {
  /// What has become of it.
  package enum News: Sendable { case nothing, closed, gone }

  /// SAFETY: lives until deinit, which alone frees it.
  @unsafe private let screencast: OpaquePointer
  /// Watched by the calls, so it must live as long.
  private let stop: StopSignal
  /// What the portal said that it offers.
  package let offer: ScreenCastOffer
  /// The node that the user chose, once `start` has returned.
  package private(set) var node: UInt32 = 0
  private var remote: Descriptor?
  private var token: SecretBytes?

  /// Connects to the portal.
  /// - Parameter stop: ends every wait.
  package init(
    stop: StopSignal, answerLimit: Duration = .seconds(10)
  ) throws(ScreenCastError) {
    guard let screencast = unsafe screencast_new(stop.descriptorNumber) else {
      throw .noBus("no memory")
    }
    var offer = screencast_offer()
    let result = unsafe screencast_connect(
      screencast, answerLimit.clampedNanoseconds, &offer)
    let error = unsafe ScreenCastError(result, of: screencast)
    if let error {
      unsafe screencast_free(screencast)
      throw error
    }
    unsafe self.screencast = screencast
    self.stop = stop
    self.offer = ScreenCastOffer(
      version: offer.version, sourceTypes: offer.sourceTypes, cursorModes: offer.cursorModes)
  }

  deinit { unsafe screencast_free(screencast) }

  /// Connects, and has the user choose a source, or restores the choice that was made before.
  /// - Parameters:
  ///   - kept: where the choice is kept; nil to keep none.
  ///   - noticed: called with what the user should know.
  package static func open(
    _ request: ScreenCastRequest, keptIn kept: RestoreToken?, stop: StopSignal,
    noticed: (String) -> Void
  ) throws(ScreenCastError) -> ScreenCastSession {
    var session = try ScreenCastSession(stop: stop, answerLimit: request.answerLimit)
    var known: SecretBytes?
    do throws(CredentialError) { known = try kept?.read() } catch {
      noticed("the desktop asks again, as its restore token cannot be opened: \(error)")
    }
    do throws(ScreenCastError) {
      try session.start(request, token: known)
    } catch {
      guard case .refused = error, known != nil else { throw error }
      // A token that the portal cannot read, such as another desktop's.
      session = try ScreenCastSession(stop: stop, answerLimit: request.answerLimit)
      try session.start(request, token: nil)
    }
    guard let kept, let token = session.token.take() else { return session }
    do throws(CredentialError) { try kept.keep(token) } catch {
      noticed("the desktop will ask again next time, as its restore token is not kept: \(error)")
    }
    return session
  }

  /// Has the user choose a source, or restores the choice that a token names. Call it once.
  package func start(
    _ request: ScreenCastRequest, token: borrowing SecretBytes?
  ) throws(ScreenCastError) {
    var stream = screencast_stream()
    var asked = unsafe screencast_request()
    unsafe asked.sourceType = request.sourceType
    unsafe asked.cursorMode =
      (request.drawsCursor ? SCREENCAST_CURSOR_EMBEDDED : SCREENCAST_CURSOR_HIDDEN).rawValue
    unsafe asked.answerNs = request.answerLimit.clampedNanoseconds
    unsafe asked.dialogNs = request.dialogLimit.clampedNanoseconds
    let text = Self.text(of: token)
    // SAFETY: the text ends with a zero, and outlives the call.
    let result = unsafe text.withUnsafeBufferPointer { text in
      unsafe asked.token = text.count > 1 ? text.baseAddress : nil
      return unsafe screencast_start(screencast, &asked, &stream)
    }
    if let error = unsafe ScreenCastError(result, of: screencast) { throw error }
    node = stream.node
    remote = Descriptor(owning: stream.descriptor)
    self.token = Self.token(in: stream)
  }

  /// A connection to PipeWire that sees the chosen node alone. Nil after the first call.
  package func takeRemote() -> Descriptor? { remote.take() }

  /// Readable when there may be news.
  package var descriptorNumber: Int32 { unsafe screencast_descriptor(screencast) }

  package func news() -> News {
    switch unsafe screencast_process(screencast) {
    case SCREENCAST_CLOSED: .closed
    case SCREENCAST_GONE: .gone
    default: .nothing
    }
  }

  private static func text(of token: borrowing SecretBytes?) -> [CChar] {
    switch token {
    case .none: [0]
    case .some(let token):
      token.withBytes { bytes in
        // SAFETY: the buffer is copied before the borrow ends.
        unsafe bytes.withUnsafeBytes { unsafe $0.map { CChar(bitPattern: $0) } } + [0]
      }
    }
  }

  private static func token(in stream: borrowing screencast_stream) -> SecretBytes? {
    var text = stream.token
    // SAFETY: the array has a zero at its end, which the call puts there.
    let bytes = unsafe withUnsafeBytes(of: &text) { unsafe Array($0.prefix { $0 != 0 }) }
    return bytes.isEmpty ? nil : try? SecretBytes(copying: bytes)
  }
}

/// What a desktop's portal offers, as bits of its interface.
package struct ScreenCastOffer: Hashable, Sendable {
  package let version: UInt32
  package let sourceTypes: UInt32
  package let cursorModes: UInt32
}
