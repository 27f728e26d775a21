import Foundation
import TestSupport
import Testing

@testable import Platform

/// `scripts/install` in a hostile environment, with a toolchain that builds nothing.
@Suite(.enabled(if: TestUser.canBeCreated, "users can only be created by root"))
struct InstallScriptTests {
  private let root: TemporaryRoot
  private var checkout: String { root.file("check out") }
  private var prefix: String { root.file("a prefix") }
  private var victim: String { root.file("victim") }

  init() throws {
    root = try TemporaryRoot(mode: 0o755)
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appending(path: "../../scripts/install").path
    let lines = #"""
      cd "$1"; umask 022; mkdir -p "check out/scripts" bin built
      cp "$0" "check out/scripts/install"; echo text > "check out/LICENSE"
      printf '#!/bin/sh\n' > "check out/scripts/setup"
      printf '#!/bin/sh\ncase "$*" in *--show-bin-path*) echo "%s/built";; esac\n' "$1" > bin/swift
      printf '%s\n' '#!/bin/sh' 'mkdir -p "$2"; cd "$2"; echo page > framebus.1.gz' \
        'echo page > framebus-group.1.gz' > "check out/scripts/manual"
      printf '%s\n' '#!/bin/sh' 'echo {}' > "check out/scripts/sbom"
      mkdir -p "check out/Sources/C/CFrameBus/man"
      echo page > "check out/Sources/C/CFrameBus/man/framebus.3"
      echo framebus_open > "check out/Sources/C/CFrameBus/exports.map"
      printf '%s\n' '#!/bin/sh' 'mkdir -p "$2"/lib/pkgconfig "$2"/include; cd "$2"' \
        'cp /bin/true lib/libframebus.so.0.1; ln -s libframebus.so.0.1 lib/libframebus.so.0' \
        'echo prefix=nowhere > lib/pkgconfig/framebus.pc; echo text > include/framebus.h' \
        > "check out/scripts/library"
      printf '%s\n' '#!/bin/sh' 'mkdir -p "$1/lib/gstreamer-1.0"' \
        'cp /bin/true "$1/lib/gstreamer-1.0/libgstframebus.so"' \
        > "check out/scripts/gstreamer-plugin"
      printf '%s\n' '#!/bin/sh' 'echo "scripts/obs-plugin: libobs is missing; install it" >&2' \
        'exit 3' > "check out/scripts/obs-plugin"
      printf '%s\n' '#!/bin/sh' 'path=lib/python3.11/dist-packages' \
        '[ "$1" = --path ] && echo $path && exit' 'mkdir -p "$1/$2/framebus"' \
        'echo text > "$1/$2/framebus/__init__.py"' > "check out/scripts/python-package"
      chmod +x "check out/scripts/"* bin/swift
      for name in "" -bridge -capture -capture-gstreamer -upload -view -confine; do
        cp /bin/true "built/framebus$name"; done
      mkdir victim; echo precious > victim/file
      """#
    try output(of: "sh", ["-e", "-c", lines, script, root.path])
  }

  private func install(
    _ arguments: String..., before: String = ":", path: String = ""
  ) throws -> ProgramResult {
    try run(
      "bash", ["-c", before + #"; exec "$0" "$@""#, checkout + "/scripts/install"] + arguments,
      environment: [
        "PATH": "\(path)\(root.file("bin")):/usr/sbin:/usr/bin:/sbin:/bin", "DESTDIR": nil,
        "SUDO_UID": nil, "SUDO_GID": nil,
      ])
  }

  private func shell(_ lines: String) throws -> String {
    try output(of: "sh", ["-e", "-c", "cd '\(root.path)'; \(lines)"])
  }

  private func requireUnharmed() throws {
    #expect(try shell("ls victim; cat victim/file") == "file\nprecious\n")
  }

  @Test(arguments: ["umask 0", "umask 077"])
  func installedFilesAreReadableAndNotWritableByUsers(_ before: String) throws {
    try install(prefix, before: before).requireSuccess()
    let modes = try shell("find 'a prefix' -printf '%m %y %u\\n' | sort -u")
    #expect(modes == "644 f root\n755 d root\n755 f root\n777 l root\n")
    #expect(try shell("cat 'a prefix/lib/pkgconfig/framebus.pc'") == "prefix=\(prefix)\n")
    #expect(try shell("ls 'a prefix/lib/gstreamer-1.0'") == "libgstframebus.so\n")
    #expect(try shell("ls 'a prefix/share/man/man3'") == "framebus.3.gz\nframebus_open.3.gz\n")
    #expect(try shell("ls 'a prefix/share/man/man1'") == "framebus-group.1.gz\nframebus.1.gz\n")
    try install("--remove", prefix).requireSuccess()
    #expect(try shell("find 'a prefix' -not -type d") == "")
  }

  @Test func whatLacksItsDevelopmentFilesIsLeftOutByName() throws {
    let installed = try install(prefix)
    try installed.requireSuccess()
    #expect(installed.output.contains("the GStreamer plugin, the Python package, 2 manual pages"))
    #expect(
      installed.output.contains(
        "scripts/install: left out the OBS plugin: libobs is missing; install it\n"),
      "\(installed.output)")
    let package = "lib/python3.11/dist-packages/framebus"
    #expect(try shell("ls 'a prefix/\(package)'") == "__init__.py\n")
    try install("--remove", prefix).requireSuccess()
    // A part that cannot be built is an error, and nothing is installed.
    _ = try shell("printf '#!/bin/sh\necho broken; exit 1\n' > 'check out/scripts/obs-plugin'")
    let failed = try install(prefix)
    #expect(failed.status == .exited(1))
    #expect(failed.errors.contains("cannot build the OBS plugin: broken"), "\(failed.errors)")
    #expect(try shell("find 'a prefix' -type f") == "")
  }

  @Test func whatIsBuiltAlreadyIsInstalledFromItsDirectory() throws {
    _ = try shell(
      #"printf '#!/bin/sh\n[ "$1" = build ] && echo >> "%s/ran"\n' "$PWD" > bin/swift"#)
    try install("--from", root.file("built"), prefix).requireSuccess()
    #expect(try shell("ls 'a prefix/bin' | head -n 1; test -e ran || echo no") == "framebus\nno\n")
    let user = try TestUser()
    _ = try shell("chown \(user.name) built")
    let refused = try install("--from", root.file("built"), prefix)
    #expect(refused.errors.contains("belongs to uid \(user.uid)"), "\(refused.errors)")
  }

  @Test func installDirectoryMayHaveSpacesAndMustBeAbsolute() throws {
    let location = root.file("dest dir")
    try install("/usr", before: "export DESTDIR='\(location)'").requireSuccess()
    #expect(try shell("ls 'dest dir/usr/bin' | head -n 1") == "framebus\n")
    let relative = try install("/usr", before: "export DESTDIR=here")
    #expect(relative.status == .exited(2))
  }

  @Test(arguments: ["../victim/file", "bin/../../victim/file", "/etc/nothing", "share"])
  func listThatNamesOtherFilesRemovesNothing(_ path: String) throws {
    try install(prefix).requireSuccess()
    _ = try shell("printf '%s\\n' bin/framebus \(path) > 'a prefix/share/framebus/installed'")
    for arguments in [["--remove", prefix], [prefix]] {
      let result = try arguments.count == 2 ? install("--remove", prefix) : install(prefix)
      #expect(result.status == .exited(1))
      #expect(result.errors.contains("installed is damaged"), "\(result.errors)")
    }
    #expect(try shell("ls 'a prefix/bin/framebus'") == "a prefix/bin/framebus\n")
    try requireUnharmed()
  }

  @Test(arguments: [
    "bin", "share", "share/framebus", "share/man/man1", "lib/obs-plugins",
    "lib/python3.11/dist-packages",
  ])
  func installingIntoAnotherUsersDirectoryIsRefused(_ directory: String) throws {
    let user = try TestUser()
    _ = try shell(
      "mkdir -p 'a prefix/\(directory)'; chown \(user.name) 'a prefix/\(directory)'")
    let result = try install(prefix)
    #expect(result.status == .exited(1))
    #expect(result.errors.contains("belongs to uid \(user.uid)"), "\(result.errors)")
    #expect(try shell("find 'a prefix' -type f") == "")
  }

  @Test func linkOfTheOwnerStaysALink() throws {
    _ = try shell("mkdir -p 'a prefix' real; ln -s ../real 'a prefix/bin'")
    try install(prefix).requireSuccess()
    #expect(try shell("readlink 'a prefix/bin'; ls real | head -n 1") == "../real\nframebus\n")
  }

  @Test func linkIntoAnotherUsersDirectoryIsRefused() throws {
    let user = try TestUser()
    _ = try shell("mkdir -p 'a prefix'; ln -s ../victim 'a prefix/bin'; chown \(user.name) victim")
    #expect(try install(prefix).errors.contains("victim belongs to uid \(user.uid)"))
    try requireUnharmed()
  }

  /// The planted program reports that it runs.
  @Test func rootRunsNoProgramsFromOthersDirectories() throws {
    let user = try TestUser()
    let lines = #"""
      mkdir planted; for name in swift dirname git tar install mktemp realpath stat find sort; do
        printf '#!/bin/sh\necho planted > "%s/ran"\n' "$PWD" > planted/$name
        chmod +x planted/$name; done; chown -R "$USER_NAME" planted
      """#
    _ = try shell("USER_NAME=\(user.name); \(lines)")
    let result = try install(prefix, path: root.file("planted") + ":")
    #expect(result.status == .exited(0), "\(result.errors)")
    #expect(result.errors.contains("PATH without \(root.file("planted"))"), "\(result.errors)")
    #expect(try shell("ls") == "a prefix\nbin\nbuilt\ncheck out\nplanted\nvictim\n")
  }

  @Test(arguments: [
    "chown USER .", "chown USER Package.swift", "chown -R USER .build-install",
    "chmod 777 .build-install", "chmod 666 Package.swift", "chgrp USER . && chmod g+w .",
  ])
  func rootRefusesToBuildWhatOthersCanChange(_ change: String) throws {
    let user = try TestUser()
    let mine = change.replacingOccurrences(of: "USER", with: user.name)
    _ = try shell("cd 'check out'; mkdir -p .build-install; touch Package.swift; \(mine)")
    _ = try shell("printf 'echo ran > \"%s/ran\"\\n' \"$PWD\" >> 'check out/scripts/setup'")
    let result = try install(prefix)
    #expect(result.status == .exited(1))
    #expect(result.errors.contains("others could have root run anything"), "\(result.errors)")
    #expect(try !shell("ls").contains("ran\n"))
  }

  @Test func remainsOfAFailedInstallationCanBeRemoved() throws {
    _ = try shell("mkdir -p 'a prefix/share/man/man1/framebus.1.gz/in-the-way'")
    #expect(try install(prefix).status != .exited(0))
    #expect(try install("--remove", prefix).status == .exited(1))
    #expect(try shell("find 'a prefix' -type f -printf '%P\\n'") == "share/framebus/installed\n")
    _ = try shell("rm -r 'a prefix/share/man/man1/framebus.1.gz'")
    try install("--remove", prefix).requireSuccess()
    #expect(try shell("find 'a prefix' -type f") == "")
  }

  /// Of the build, whose version names it.
  @Test func buildKnowsTheCommitOfItsCheckout() throws {
    _ = try shell(
      #"printf '#!/bin/sh\necho "${FRAMEBUS_COMMIT-none}" > "%s/commit"\n' "$PWD" >> bin/swift"#)
    try install(prefix).requireSuccess()
    #expect(try shell("cat commit") == "none\n")
    let git = "git -C 'check out' -c user.name=a -c user.email=a@b.example"
    _ = try shell("\(git) init -q; \(git) add .; \(git) commit -qm text")
    try install(prefix).requireSuccess()
    let hash = try shell("\(git) rev-parse --short=12 HEAD").dropLast()
    #expect(try shell("cat commit") == "\(hash)\n")
    _ = try shell("echo other >> 'check out/LICENSE'")
    try install(prefix).requireSuccess()
    #expect(try shell("cat commit") == "\(hash)-dirty\n")
  }
}
