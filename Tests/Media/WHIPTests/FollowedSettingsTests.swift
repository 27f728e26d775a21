#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// Settings that other processes write while an uploader runs, observed at independent receivers.
  @Suite struct FollowedSettingsTests {
    private let root: TemporaryRoot

    init() throws { root = try TemporaryRoot() }

    @discardableResult
    private func framebus(_ arguments: String...) throws -> ProgramResult {
      let result = try run("framebus", ["--root", root.path] + arguments)
      #expect(result.status == .exited(0), "\(result.errors)")
      return result
    }

    private func write(_ key: String, _ value: String, _ type: String = "string") throws {
      try framebus("defaults", "write", "group.local.framebus", key, value, "--type", type)
    }

    private func broadcast(_ options: String...) throws -> RunningProgram {
      try RunningProgram(
        "framebus",
        ["--root", root.path, "broadcast", "start", "--yes", "--size", "320x240", "--fps", "30"]
          + options)
    }

    private func stop(_ host: RunningProgram) throws {
      try framebus("broadcast", "stop")
      #expect(try host.finish().status == .exited(0), "\(host.transcript)")
    }

    private func waitForLog(_ text: String, _ host: RunningProgram) throws {
      try waitUntil("the log has “\(text)”: \(host.transcript)") {
        try framebus("log", "--role", "extension").output.contains(text)
      }
    }

    /// The time and size of each packet of pictures in a file that grows.
    private func packets(_ path: String) throws -> [(seconds: Double, byteCount: Double)] {
      let result = try run(
        "ffprobe",
        [
          "-v", "quiet", "-select_streams", "v", "-show_entries", "packet=pts_time,size", "-of",
          "csv=p=0", path,
        ])
      return result.output.split(separator: "\n").compactMap { line in
        let numbers = line.split(separator: ",").compactMap { Double($0) }
        return numbers.count == 2 ? (numbers[0], numbers[1]) : nil
      }
    }

    @Test func bitrateAndFrameRateChangeWhileFileGrows() throws {
      try withWatchdog {
        let path = root.file("out.mkv")
        try write("uploadBitrate", "8M")
        try framebus("extension", "register", "--builtin", "file:\(path)", "--id", "up")
        let host = try broadcast("up", "--source", "test:noise")
        func waitForMore(_ count: Int) throws -> Int {
          let before = try packets(path).count
          try waitUntil("\(count) packets after \(before): \(host.transcript)") {
            try packets(path).count >= before + count
          }
          return before
        }
        let first = try waitForMore(40)
        try write("uploadBitrate", "bogus")
        try waitForLog("uploadBitrate is malformed", host)
        let stillHigh = try waitForMore(40)
        try write("uploadBitrate", "200k")
        try waitForLog("the bitrate is 200000 bit/s", host)
        let low = try waitForMore(60)
        try write("uploadFrameRate", "5", "int")
        try waitForLog("at most 5 pictures a second", host)
        _ = try waitForMore(20)
        try stop(host)
        let all = try packets(path)
        func mean(_ part: ArraySlice<(seconds: Double, byteCount: Double)>) -> Double {
          part.map(\.byteCount).reduce(0, +) / Double(max(1, part.count))
        }
        #expect(mean(all[(low + 20)..<(low + 60)]) < mean(all[first..<(first + 40)]) / 4)
        #expect(mean(all[stillHigh..<(stillHigh + 40)]) > mean(all[first..<(first + 40)]) / 2)
        // The file may have been behind at the change. A picture that was late may be followed at
        // once by the next.
        let seconds = all.suffix(6).map(\.seconds)
        #expect(try #require(seconds.last) - seconds[0] > 0.7, "\(seconds)")
        let log = try framebus("log", "--role", "extension").output
        #expect(log.components(separatedBy: "is malformed").count == 2, "\(log)")
      }
    }

    /// Without a broadcast: the same settings, the same effects.
    @Test func uploadWithoutBroadcastFollowsSettings() throws {
      try withWatchdog {
        try write("uploadBitrate", "8M")
        let capture = try RunningProgram(
          "framebus",
          ["--root", root.path, "capture", "test:noise", "--size", "320x240", "--fps", "30"])
        let path = root.file("out.mkv")
        try write("uploadBitrate", "2M")
        let upload = try RunningProgram(
          "framebus", ["--root", root.path, "upload", "file:\(path)"])
        func waitForMore(_ count: Int) throws -> Int {
          let before = try packets(path).count
          try waitUntil("\(count) packets after \(before): \(upload.transcript)") {
            try packets(path).count >= before + count
          }
          return before
        }
        let first = try waitForMore(40)
        try write("uploadBitrate", "bogus")
        try upload.waitForErrors("uploadBitrate is malformed")
        try write("uploadBitrate", "200k")
        try upload.waitForErrors("the bitrate is 200000 bit/s")
        let low = try waitForMore(60)
        try write("uploadFrameRate", "5", "int")
        try upload.waitForErrors("at most 5 pictures a second")
        _ = try waitForMore(20)
        #expect(try upload.end(with: SIGTERM).status == .exited(0), "\(upload.transcript)")
        try capture.end(with: SIGTERM)
        let all = try packets(path)
        func mean(_ part: ArraySlice<(seconds: Double, byteCount: Double)>) -> Double {
          part.map(\.byteCount).reduce(0, +) / Double(max(1, part.count))
        }
        #expect(mean(all[(low + 20)..<(low + 60)]) < mean(all[first..<(first + 40)]) / 4)
        let seconds = all.suffix(6).map(\.seconds)
        let steps = zip(seconds, seconds.dropFirst()).map { $1 - $0 }
        #expect(steps.allSatisfy { $0 > 0.1 }, "\(steps)")
      }
    }

    /// A live upload, at an independent receiver: down to the new bitrate, and up again.
    @Test func bitrateOfLiveUploadChangesAtReceiver() throws {
      try withWatchdog {
        let server = try WebServer("whip_server.py", ["0", "sizes=15"])
        try write("uploadBitrate", "2M")
        let capture = try RunningProgram(
          "framebus",
          ["--root", root.path, "capture", "test:noise", "--size", "320x240", "--fps", "15"])
        let upload = try RunningProgram(
          "framebus", ["--root", root.path, "upload", "whip:" + server.address("whip")])
        // A second of noise at 2 Mbit/s has 250,000 bytes.
        func waitForSecond(_ what: String, _ isWanted: (_ byteCount: Int) -> Bool) throws {
          let before = server.lines("bytes ").count
          try waitUntil("\(what): \(upload.transcript) \(server.lines("bytes "))") {
            server.lines("bytes ").dropFirst(before).contains { line in
              line.split(separator: " ").last.flatMap { Int($0) }.map(isWanted) == true
            }
          }
        }
        try waitForSecond("the first bitrate") { $0 > 150_000 }
        try write("uploadBitrate", "500k")
        try upload.waitForErrors("the bitrate is 500000 bit/s")
        try waitForSecond("a lower bitrate") { $0 < 90_000 }
        try write("uploadBitrate", "2M")
        try upload.waitForErrors("the bitrate is 2000000 bit/s")
        try waitForSecond("a higher bitrate") { $0 > 150_000 }
        #expect(server.lines("POST") == ["POST 201"])
        #expect(try upload.end(with: SIGTERM).status == .exited(0), "\(upload.transcript)")
        try capture.end(with: SIGTERM)
      }
    }

    @Test func mutedSoundIsSilenceAtReceiver() throws {
      try withWatchdog {
        let server = try WebServer("whip_server.py", ["0"])
        try write("whipURL", server.address("whip"))
        let host = try broadcast(
          "--source", "test", "--app-source", "tone:440", "--server", server.address(""))
        try server.waitForPitch(440)
        func waitForSecond(_ what: String, _ isWanted: (_ loudest: Int) -> Bool) throws {
          let before = server.lines("sound ").count
          try waitUntil("\(what): \(server.lines("sound "))") {
            server.lines("sound ").dropFirst(before).contains { line in
              line.split(separator: " ").last.flatMap { Int($0) }.map(isWanted) == true
            }
          }
        }
        try write("uploadMuted", "true", "bool")
        // Opus keeps a trace of noise.
        try waitForSecond("silence") { $0 < 100 }
        try write("uploadMuted", "perhaps")
        try waitForLog("uploadMuted is malformed", host)
        try write("uploadMuted", "false", "bool")
        try waitForSecond("the tone again") { $0 > 10_000 }
        try stop(host)
      }
    }

    /// As the seed's app: the host writes the address, and a broadcast needs nothing else.
    @Test func broadcastWithoutExtensionFollowsAddressOnServerThatWasAgreedTo() throws {
      try withWatchdog {
        try root.seal("s3cret-token", "whip", "bearer")
        let server = try WebServer("whip_server.py", ["0", "token=s3cret-token"])
        try write("whipURL", server.address("whip"))
        let host = try broadcast("--source", "test", "--server", server.address(""))
        try server.waitForFrames(20)
        let capture = try pid(of: "capture")
        try write("whipURL", "ftp://nowhere/k3y-of-a-stream")
        try waitForRefusal("“ftp://nowhere/…” is not the address of a WHIP endpoint", host)
        // The server does not know it, so the broadcast returns to the former address.
        try write("whipURL", server.address("wrong"))
        try waitForRefusal("status 404", host)
        try waitForLog("the previous address is used again", host)
        try server.waitForFrames(server.frameNumbers.count + 20)
        #expect(server.lines("POST") == ["POST 201", "POST 201"])
        try write("whipURL", server.address("whip?other"))
        try waitUntil("the next valid address is followed: \(host.transcript)") {
          server.lines("POST").count == 3
        }
        try server.waitForFrames(server.frameNumbers.count + 20)
        #expect(try refusal() == nil)
        #expect(Set(server.lines("bearer")) == ["bearer yes"])
        #expect(try pid(of: "capture") == capture)
        try stop(host)
      }
    }

    /// Its process knows no address before the one that the setting names by now.
    @Test func restartedExtensionStaysAtTheAddressToWhichItWasMoved() throws {
      try withWatchdog {
        let busy = root.file("busy")
        let server = try WebServer("whip_server.py", ["0", "shut=\(busy)"])
        try write("whipURL", server.address("whip?first"))
        let host = try broadcast("--source", "test", "--server", server.address(""))
        try server.waitForFrames(10)
        try write("whipURL", server.address("whip?second"))
        try waitUntil("it has moved: \(host.transcript)") { server.lines("POST").count == 2 }
        try server.waitForFrames(server.frameNumbers.count + 10)
        // Its first attempt fails.
        try Data().write(to: URL(filePath: busy))
        #expect(kill(Int32(try pid(of: "extension")), SIGKILL) == 0)
        try waitUntil("it tries: \(host.transcript)") { server.lines("POST 503").count >= 2 }
        try FileManager.default.removeItem(atPath: busy)
        try waitUntil("it is accepted: \(host.transcript)") {
          server.lines("POST 201").count == 3
        }
        #expect(Set(server.lines("POST").dropFirst()) == ["POST 503 second", "POST 201 second"])
        #expect(try refusal() == nil)
        try stop(host)
      }
    }

    /// Any member can write the setting, also while the extension is restarted.
    @Test func settingCannotSendTokenOrPicturesToAnotherServer() throws {
      try withWatchdog {
        try root.seal("s3cret-token", "whip", "bearer")
        let agreed = try WebServer("whip_server.py", ["0", "token=s3cret-token"])
        let other = try WebServer("whip_server.py", ["0"])
        try write("whipURL", agreed.address("whip"))
        let host = try broadcast("--source", "test", "--server", agreed.address(""))
        try agreed.waitForFrames(20)
        try write("whipURL", other.address("whip"))
        try waitForRefusal("is on another server than http://127.0.0.1:\(agreed.port)", host)
        try agreed.waitForFrames(40)
        #expect(agreed.lines("POST") == ["POST 201"])
        let uploader = try pid(of: "extension")
        #expect(kill(Int32(uploader), SIGKILL) == 0)
        try waitUntil("the extension sends again: \(host.transcript)") {
          agreed.lines("POST 201").count == 2
        }
        try waitForRefusal("is on another server", host)
        try stop(host)
        #expect(other.lines("POST").isEmpty && Set(agreed.lines("bearer")) == ["bearer yes"])
      }
    }

    /// The server that was agreed to may not send the pictures on to another one.
    @Test func redirectToAnotherServerIsRefused() throws {
      try withWatchdog {
        try root.seal("s3cret-token", "whip", "bearer")
        let agreed = try WebServer("odd_web_server.py")
        let other = try WebServer("odd_web_server.py")
        try write("whipURL", agreed.address("away/\(other.port)"))
        let next = "http://127.0.0.1:\(other.port)/good"
        let what = "points to “\(next)”, which is not an address of the same server"
        let host = try broadcast("--source", "test", "--server", agreed.address(""))
        try waitForLog(what, host)
        #expect(try host.end(with: SIGINT).errors.contains(what), "\(host.transcript)")
        let capture = try RunningProgram(
          "framebus", ["--root", root.path, "capture", "test", "--size", "320x240"])
        let upload = try run(
          "framebus", ["--root", root.path, "upload", "whip", "--server", agreed.address("")])
        #expect(upload.status == .exited(1) && upload.errors.contains(what), "\(upload.errors)")
        try capture.end(with: SIGTERM)
        try agreed.program.end(with: SIGTERM)
        try other.program.end(with: SIGTERM)
        #expect(Set(agreed.lines("POST")) == ["POST /away/\(other.port) bearer=yes"])
        #expect(other.program.output.text == "listening \(other.port)\n")
      }
    }

    /// No question shows the server to a script, so the script names it.
    @Test func scriptSendsOnlyToServerThatItNames() throws {
      try withWatchdog {
        try root.seal("s3cret-token", "whip", "bearer")
        let server = try WebServer("whip_server.py", ["0", "token=s3cret-token"])
        try write("whipURL", server.address("whip"))
        let origin = "http://127.0.0.1:\(server.port)"
        let start = ["broadcast", "start", "--yes", "--source", "test"]
        for (arguments, status, text) in [
          (start, 2, "nobody has agreed to send to \(origin), which the setting whipURL names"),
          (start + ["--server", "https://live.example.com"], 1, "not https://live.example.com"),
          (start + ["--server", "live.example.com"], 2, "is not the address of a server"),
          (Array(start.filter { $0 != "--yes" }), 2, "with --yes --server \(origin)"),
          (["upload", "whip"], 2, "nobody has agreed to send to \(origin)"),
          (["upload", "whip", "--server", "https://h"], 1, "names \(origin), not https://h"),
        ] as [([String], Int32, String)] {
          let result = try run("framebus", ["--root", root.path] + arguments)
          #expect(result.status == .exited(status) && result.errors.contains(text), "\(result)")
        }
        let fixed = ["extension", "register", "--builtin", "null", "--id", "up"]
        try output(of: "framebus", ["--root", root.path] + fixed)
        let useless = try run(
          "framebus", ["--root", root.path] + start + ["up", "--server", origin])
        #expect(useless.status == .exited(2) && useless.errors.contains("omit it"))
        #expect(server.lines("POST").isEmpty)
      }
    }

    private func refusal() throws -> String? {
      let text = try framebus("broadcast", "status", "--json").output
      let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
      return (object?["refusedSettings"] as? [String: String])?["whipURL"]
    }

    private func waitForRefusal(_ text: String, _ host: RunningProgram) throws {
      try waitUntil("the status has “\(text)”: \(host.transcript)") {
        try refusal()?.contains(text) == true
      }
      try waitForLog(text, host)
    }

    private func pid(of role: String) throws -> Int {
      let text = try framebus("broadcast", "status", "--json").output
      let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
      let roles = try #require(object?["roles"] as? [String: [String: Any]])
      return try #require(roles[role]?["pid"] as? Int)
    }

    @Test func missingAddressIsErrorThatNamesSetting() throws {
      let start = ["broadcast", "start", "framebus.whip", "--yes", "--source", "test"]
      let none = try run("framebus", ["--root", root.path] + start)
      #expect(none.status == .exited(1))
      #expect(
        none.errors.contains("defaults write group.local.framebus whipURL"), "\(none.errors)")
      let upload = try run("framebus", ["--root", root.path, "upload", "whip"])
      #expect(upload.errors.contains("names no WHIP server"), "\(upload.errors)")
    }
  }
#endif
