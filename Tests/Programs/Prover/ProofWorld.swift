import AppGroup
import Foundation
import FrameBus
import Platform
import TestSupport

/// A group in a temporary root, one stream of it, and the processes that take part.
struct ProofWorld {
  static let groupName = "org.example.proof"

  let rootPath: String
  /// Removes the root at the end; nil where another process does.
  private let root: TemporaryRoot?
  let group: AppGroup
  let stream: StreamName

  init(stream: String = "screen") throws {
    let root = try TemporaryRoot()
    self.root = root
    rootPath = root.path
    group = try AppGroup.create(GroupID(Self.groupName), root: root.path)
    self.stream = try StreamName(stream)
  }

  /// The world of the process that started this one.
  init(rootPath: String, stream: String) throws {
    root = nil
    self.rootPath = rootPath
    group = try AppGroup.open(GroupID(Self.groupName), root: rootPath)
    self.stream = try StreamName(stream)
  }

  func publisher(_ role: Role, step: Int = 0) throws -> Publisher {
    try Publisher(
      stream, in: group, format: try role.format(step: step), options: role.publisherOptions)
  }

  func subscriber(
    _ role: Role, holds: Int = 1, start: StartingPoint = .newest, until deadline: Deadline? = nil
  ) throws -> Subscriber {
    var options = role.subscriberOptions(holds: holds)
    options.start = start
    return try Subscriber(
      stream, in: group, options: options, waitingForPublisherUntil: deadline)
  }

  /// Starts this program in another part, as a process that may be killed.
  func start(
    _ part: String, _ settings: [String], dying choice: CrashChoice? = nil,
    dawdling delayed: CrashPoint? = nil
  ) throws -> RunningProgram {
    try RunningProgram(
      "Prover", [part, "root=\(rootPath)", "stream=\(stream)"] + settings,
      environment: ["FRAMEBUS_CRASH": choice?.variable, "FRAMEBUS_DAWDLE": delayed?.rawValue])
  }

  var socketPath: String { "\(group.streamsPath)/\(stream).sock" }

  /// Every file and directory below the root, by its path.
  func entries() throws -> Set<String> {
    Set(try FileManager.default.subpathsOfDirectory(atPath: rootPath))
  }

  /// The socket and the lock, and nothing else: what a stream may leave behind.
  func checkRunDirectory() throws {
    let names = Set(try Directory(path: group.streamsPath).names())
    guard names.isSubset(of: ["\(stream).sock", "\(stream).lock"]) else {
      throw ProofError("the run directory has \(names.sorted())")
    }
  }
}

/// A crash point, and at which of its passes to die.
struct CrashChoice: CustomStringConvertible {
  let point: CrashPoint
  let pass: Int
  var variable: String { "\(point.rawValue):\(pass)" }
  var description: String { variable }
}

/// A process's resources, as counted by the kernel.
struct Resources: Equatable, CustomStringConvertible {
  let descriptors: Int
  let memoryFiles: Int
  let watches: Int
  let threads: Int
  let sharedMemory: Set<String>

  init(of facts: ProcessFacts) throws {
    let open = try facts.descriptors
    descriptors = open.count
    watches = open.values.count { $0.contains("inotify") }
    memoryFiles = try facts.mappings.count { $0.contains("memfd:framebus") }
    threads = try facts.threadCount
    sharedMemory = try namesInSharedMemory()
  }

  /// Once it has not changed for a tenth of a second, so that connections and threads have ended.
  static func settled(of facts: ProcessFacts) throws -> Resources {
    var (last, since) = (try Resources(of: facts), monotonicNowNs())
    while monotonicNowNs() - since < 100_000_000 {
      sleep(until: .after(.milliseconds(5)))
      let now = try Resources(of: facts)
      if now != last { (last, since) = (now, monotonicNowNs()) }
    }
    return last
  }

  /// On a busy machine something that was ending may have been counted before.
  func isWithin(_ before: Resources) -> Bool {
    descriptors <= before.descriptors && memoryFiles <= before.memoryFiles
      && watches <= before.watches && threads <= before.threads
      && sharedMemory.isSubset(of: before.sharedMemory)
  }

  var description: String {
    "\(descriptors) descriptors, \(memoryFiles) mapped memory files, \(watches) watches, "
      + "\(threads) threads, \(sharedMemory.sorted()) in /dev/shm"
  }
}

/// Waits until a process uses no more resources than before, because connections and threads end
/// with a delay. Fails after half a minute.
func expect(_ before: Resources, of facts: ProcessFacts, after what: String) throws {
  let deadline = Deadline.after(.seconds(30))
  while true {
    let now = try Resources(of: facts)
    if now.isWithin(before) { return }
    guard !deadline.isPast else {
      throw ProofError("after \(what): \(now); before it: \(before)")
    }
    sleep(until: .after(.milliseconds(1)))
  }
}

/// The number that follows a word in a process's output.
func number(after word: Substring, in text: String) throws(ProofError) -> Int {
  let words = text.split(whereSeparator: \.isWhitespace)
  guard let index = words.lastIndex(of: word), index + 1 < words.count,
    let number = Int(words[index + 1])
  else { throw ProofError("no “\(word)” in: \(text)") }
  return number
}
