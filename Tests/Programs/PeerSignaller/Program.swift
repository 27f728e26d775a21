import Platform
import WorkerSupport

/// Connects to a socket and, for each line that it reads, signals the listening process and prints
/// the result: `PeerSignaller PATH`.
@main
struct Program {
  static func main() {
    runWorker {
      let socket = try MessageSocket.connect(to: CommandLine.arguments[1])
      guard let peer = try PeerProcess(of: socket) else { return say("nobody") }
      say("connected")
      while readLine() != nil { say("\(peer.send(signal: 0))") }
    }
  }
}
