import AppGroup
import ArgumentParser
import CommandLineSupport
import GroupSemaphores

/// `framebus semaphore …`: the group's named semaphores.
struct Semaphore: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Create, take, post and look at the group's named semaphores.",
    subcommands: [
      SemaphoreCreate.self, SemaphoreWait.self, SemaphoreTry.self, SemaphorePost.self,
      SemaphoreShow.self, SemaphoreList.self, SemaphoreRemove.self,
    ])
}

/// The semaphore that most verbs take.
struct SemaphoreChoice: ParsableArguments {
  @Argument(help: ArgumentHelp("The semaphore.", valueName: "name"))
  var nameText: String

  func name() throws(UsageError) -> SemaphoreName {
    do { return try SemaphoreName(nameText) } catch { throw UsageError("\(error)") }
  }

  func opened(_ global: GlobalOptions) throws -> GroupSemaphore {
    let name = try name()
    return try GroupSemaphore.open(name, in: global.openGroup())
  }
}

struct SemaphoreCreate: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "create", abstract: "Make a semaphore.",
    discussion: """
      A semaphore is a count: wait takes one, or waits until there is one; post gives one back. \
      With --recover, what a process holds comes back when it dies, however it dies; without, it \
      stays taken until somebody posts, as POSIX has it.
      """)

  @OptionGroup var choice: SemaphoreChoice
  @Option(help: ArgumentHelp("The count to begin with.", valueName: "n"))
  var value = 1
  @Flag(help: "Give back what a process holds when it dies.")
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
    commandName: "post", abstract: "Give a count back, or add one.")

  @OptionGroup var choice: SemaphoreChoice
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let semaphore = try choice.opened(global)
    try semaphore.post()
    if global.json { try SemaphoreReport(semaphore.status()).print(to: global) }
  }
}

struct SemaphoreShow: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show a semaphore's count and who holds it.")

  @OptionGroup var choice: SemaphoreChoice
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    try SemaphoreReport(choice.opened(global).status()).print(to: global)
  }
}

struct SemaphoreRemove: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove a semaphore; whoever waits for it is told.")

  @OptionGroup var choice: SemaphoreChoice
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let name = try choice.name()
    try GroupSemaphore.remove(name, in: global.openGroup())
    try global.tell("removed the semaphore \(name)", asJSON: ["removed": name.text])
  }
}
