import CommandLineSupport
import Platform

/// The output of a Wayland compositor that every subject captures. It shows another picture at each
/// refresh, with its number and the moment of its drawing.
struct WaylandScene: Sendable {
  let compositor: VirtualCompositor
  let folder: String
  let groupID: String

  private static let framesPerSecond = 60

  func showContent() throws -> StartedProgram {
    try StartedProgram(
      "BareWayland", try own("BareWayland", for: "content"), [compositor.socket, "show"])
  }

  func framebus() throws(MissingSubject) -> CaptureSubject {
    let stream = "outputs"
    return CaptureSubject(
      "framebus",
      [
        .init(
          name: "framebus-capture", path: try own("framebus-capture", for: "framebus"),
          arguments: ["wayland", "--fps", "\(Self.framesPerSecond)", "--no-cursor"]
            + ["--root", folder, "--group", groupID, "--stream", stream],
          environment: compositor.environment),
        .init(
          name: "BusViewer", path: try own("BusViewer", for: "framebus"),
          arguments: [folder, stream, "numbers"]),
      ])
  }

  /// The protocol's client in a program without the bus.
  func limit() throws(MissingSubject) -> CaptureSubject {
    CaptureSubject(
      "limit",
      [
        .init(
          name: "BareWayland", path: try own("BareWayland", for: "limit"),
          arguments: [compositor.socket])
      ])
  }

  var peers: [@Sendable () throws(MissingSubject) -> CaptureSubject] { [wfRecorder] }

  /// Encodes nothing, and prints a line for each frame.
  private func wfRecorder() throws(MissingSubject) -> CaptureSubject {
    let name = "wf-recorder"
    guard let path = programInPath(named: name) else {
      throw MissingSubject(
        subject: name, program: name, remedy: "install it: apt-get install wf-recorder")
    }
    var subject = CaptureSubject(
      name,
      [
        .init(
          name: name, path: path,
          arguments: ["-c", "wrapped_avframe", "-m", "framecrc", "-f", "pipe:1"],
          environment: compositor.environment)
      ], endSignal: Signal.interrupt)
    subject.frameLine = "0, "
    return subject
  }

  private func own(_ program: String, for name: String) throws(MissingSubject) -> String {
    try CaptureSubject.own(program, for: name)
  }
}
