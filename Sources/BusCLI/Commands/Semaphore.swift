import AppGroup
import ArgumentParser
import CommandLineSupport
import GroupSemaphores

/// `framebus semaphore …`: the group's named semaphores.
struct Semaphore: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Create, use and inspect the group's semaphores.",
    subcommands: [
      SemaphoreCreate.self, SemaphoreWait.self, SemaphoreTry.self, SemaphorePost.self,
      SemaphoreShow.self, SemaphoreList.self, SemaphoreRemove.self,
    ])
}

/// The semaphore argument of most subcommands.
struct SemaphoreChoice: ParsableArguments {
  @Argument(help: ArgumentHelp("Semaphore name.", valueName: "name"))
  var nameText: String

  func name() throws(UsageError) -> SemaphoreName {
    do { return try SemaphoreName(nameText) } catch { throw UsageError("\(error)") }
  }

  func open(_ global: GlobalOptions) throws -> GroupSemaphore {
    let name = try name()
    return try GroupSemaphore.open(name, in: global.openGroup())
  }
}

struct SemaphoreCreate: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "create", abstract: "Create a semaphore.",
    discussion: """
      A semaphore is a count of available permits: wait acquires one, blocking until one is \
      available; post releases one. With --recover, the permits that a process holds are released \
      when it dies, whatever the cause; without it, they stay taken until a post, as POSIX \
      specifies.
      """)

  @OptionGroup var choice: SemaphoreChoice
  @Option(help: ArgumentHelp("Initial count.", valueName: "n"))
  var value = 1
  @Flag(help: "Release a process's permits when it dies.")
  var recover = false
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let name = try choice.name()
    let group = try global.openGroup(creatingLocal: true)
    do {
      let made = try GroupSemaphore.create(
        name, in: group, initialValue: value, recoverable: recover)
      try SemaphoreReport(made.status()).print(to: global)
    } catch SemaphoreFileError.wrongValue(let value, let maximum) {
      throw UsageError("--value \(value): use 0 to \(maximum)")
    }
  }
}

struct SemaphorePost: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "post", abstract: "Release a permit, or add one.")

  @OptionGroup var choice: SemaphoreChoice
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let semaphore = try choice.open(global)
    try semaphore.post()
    if global.json { try SemaphoreReport(semaphore.status()).print(to: global) }
  }
}

struct SemaphoreShow: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show a semaphore's count and its holders.")

  @OptionGroup var choice: SemaphoreChoice
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    try SemaphoreReport(choice.open(global).status()).print(to: global)
  }
}

struct SemaphoreRemove: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove a semaphore; its waiters receive an error.")

  @OptionGroup var choice: SemaphoreChoice
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let name = try choice.name()
    try GroupSemaphore.remove(name, in: global.openGroup())
    try global.report("removed the semaphore \(name)", asJSON: ["removed": name.text])
  }
}
