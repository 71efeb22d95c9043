import Foundation
import TestSupport
import Testing

/// Faults around a server: it is killed, its disk is full, its database is locked.
struct FaultTests {
    @Test("T-10 a server that is killed under load and restarted accepts no code twice")
    func killed() async throws {
        let state = try ServerProcess.State()
        var server = try await ServerProcess(state)
        let key = try await state.makeKey()
        var subjects: [EnrolledSubject] = []
        let asker = try Asker(server.port, key: key)
        for index in 0..<24 {
            subjects.append(try await EnrolledSubject("s\(index)", asker, period: 120))
        }
        var accepted: [String: Int] = [:]
        var spent: [String: Int] = [:]
        for round in 0..<4 {
            let port = server.port
            let isLast = round == 3
            let killing = server
            let answers = await withTaskGroup(of: (String, [String: String]?).self) { group in
                for subject in subjects {
                    group.addTask {
                        // A request that the kill cut off has no response.
                        let answer = try? await Asker(port, key: key)
                            .verify(subject.name, subject.code())
                        return (subject.name, answer?.texts)
                    }
                }
                var answers: [(String, [String: String]?)] = []
                for await answer in group {
                    answers.append(answer)
                    // In the first rounds, kill the server in the middle of the load.
                    if !isLast, answers.count == 2 + round { killing.send(SIGKILL) }
                }
                return answers
            }
            for (name, facts) in answers {
                if facts?["result"] == "accepted" { accepted[name, default: 0] += 1 }
                if facts?["reason"] == "replayed" { spent[name, default: 0] += 1 }
            }
            if !isLast {
                #expect(try await server.ending() == -SIGKILL)
                server = try await ServerProcess(state)
            }
        }
        #expect(accepted.values.allSatisfy { $0 == 1 })
        // After the last round every code is spent, even if the acceptance never reached the
        // client.
        for subject in subjects {
            #expect(accepted[subject.name] == 1 || spent[subject.name] != nil)
        }
        #expect(try await state.run("audit", "verify").status == 0)
        try await server.stop()
    }

    @Test(
        "V-31 a full disk causes 503 and never an acceptance; with free space, codes are accepted")
    func full() async throws {
        let state = try ServerProcess.State()
        let first = try await ServerProcess(state)
        let key = try await state.makeKey()
        let alice = try await EnrolledSubject("alice", Asker(first.port, key: key), period: 120)
        try await first.stop()
        // At most 400 blocks of 512 bytes per file.
        let limited = try await ServerProcess(state, under: "ulimit -f 400;")
        let asker = try Asker(limited.port, key: key)
        var status: Int? = 201
        var count = 0
        while status == 201, count < 2_000 {
            status = try await asker.ask(
                "POST", "/v1/subjects/filler\(count)/credentials",
                #"{"type":"totp","issuer":"Test","account":"filler"}"#)?.status
            count += 1
        }
        #expect(status == 503)
        // Some decisions still succeed when an enrolment no longer fits, because they write less.
        status = 200
        while status == 200, count < 4_000 {
            status = try await asker.verify("nobody\(count)", "123456")?.status
            count += 1
        }
        #expect(status == 503)
        let answer = try await asker.verify("alice", alice.code())
        #expect(answer?.status == 503)
        #expect(answer?.headers["retry-after"] != nil)
        #expect(answer?.headers["content-type"] == "application/problem+json")
        limited.send(SIGKILL)
        _ = try await limited.ending()
        let third = try await ServerProcess(state)
        let again = try Asker(third.port, key: key)
        #expect(try await again.verify("alice", alice.code())?.texts["result"] == "accepted")
        try await third.stop()
    }

    @Test("V-31 while the database is locked, requests get 503 and are never accepted")
    func locked() async throws {
        let state = try ServerProcess.State()
        let server = try await ServerProcess(state)
        let key = try await state.makeKey()
        let asker = try Asker(server.port, key: key)
        let alice = try await EnrolledSubject("alice", asker, period: 120)
        let holder = Process()
        let (input, output) = (Pipe(), Pipe())
        holder.executableURL = URL(filePath: "/usr/bin/python3")
        holder.arguments = [
            "-c",
            """
            import sqlite3, sys
            base = sqlite3.connect(sys.argv[1], isolation_level=None)
            base.execute("BEGIN IMMEDIATE")
            print("held", flush=True)
            sys.stdin.readline()
            """, state.database,
        ]
        holder.standardInput = input
        holder.standardOutput = output
        try holder.start()
        var said = Data()
        while said.last != UInt8(ascii: "\n") { said += output.fileHandleForReading.availableData }
        let answer = try await asker.verify("alice", alice.code())
        #expect(answer?.status == 503)
        #expect(answer?.headers["retry-after"] != nil)
        // Closing the pipe is not enough, because other child processes may have inherited it.
        try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
        holder.waitUntilExit()
        #expect(try await asker.verify("alice", alice.code())?.texts["result"] == "accepted")
        #expect(try server.logged().contains("SQLITE_BUSY"))
        try await server.stop()
    }

    @Test(
        "V-31 while the disk is read-only, requests get 503 and are never accepted",
        .enabled(if: canTrace, "strace is missing or not permitted to trace"))
    func readOnly() async throws {
        let state = try ServerProcess.State()
        let server = try await ServerProcess(state)
        let key = try await state.makeKey()
        let asker = try Asker(server.port, key: key)
        let alice = try await EnrolledSubject("alice", asker, period: 120)
        // The kernel's error after it has remounted a failing disk read-only.
        let tracer = Process()
        tracer.executableURL = URL(filePath: try #require(ForeignProgram("strace")).path)
        tracer.arguments =
            ["-f", "-q", "-o", "/dev/null", "-p", "\(server.pid)"]
            + ["-e", "trace=pwrite64", "-e", "inject=pwrite64:error=EROFS"]
        tracer.standardError = FileHandle.nullDevice
        try tracer.start()
        defer { if tracer.isRunning { kill(tracer.processIdentifier, SIGKILL) } }
        let end = ContinuousClock.now + .seconds(60)
        while try !isTraced(server.pid) {
            try #require(ContinuousClock.now < end && tracer.isRunning, "strace did not attach")
        }
        for _ in 0..<3 {
            let answer = try await asker.verify("alice", alice.code())
            #expect(answer?.status == 503)
            #expect(answer?.headers["retry-after"] != nil)
        }
        // strace inherited the blocked signals of the test's threads, so SIGKILL is needed; the
        // kernel then detaches it.
        kill(tracer.processIdentifier, SIGKILL)
        tracer.waitUntilExit()
        #expect(try await asker.verify("alice", alice.code())?.texts["result"] == "accepted")
        #expect(try await asker.verify("alice", alice.code())?.texts["reason"] == "replayed")
        #expect(try await state.run("audit", "verify").status == 0)
        try await server.stop()
    }

    private static let canTrace =
        (try? ForeignProgram("strace")?.run(["-o", "/dev/null", "true"]))?.status == 0

    /// Whether every thread of the process is traced.
    private func isTraced(_ pid: Int32) throws -> Bool {
        let tasks = "/proc/\(pid)/task"
        return try names(in: tasks).allSatisfy { name in
            // Ignore a thread that has ended in the meantime.
            guard let text = try? String(contentsOfFile: "\(tasks)/\(name)/status", encoding: .utf8)
            else { return true }
            return text.contains("TracerPid:") && !text.contains("TracerPid:\t0\n")
        }
    }

    @Test("V-30 an audit finds an event that was deleted directly in the database")
    func tampering() async throws {
        let state = try ServerProcess.State()
        let server = try await ServerProcess(state)
        let key = try await state.makeKey()
        let asker = try Asker(server.port, key: key)
        let alice = try await EnrolledSubject("alice", asker)
        for code in alice.wrongCodes(4) { _ = try await asker.verify("alice", code) }
        try await server.stop()
        #expect(try await state.run("audit", "verify").status == 0)
        let script = """
            import sqlite3, sys
            base = sqlite3.connect(sys.argv[1])
            base.execute("DELETE FROM events WHERE position = 3")
            base.commit()
            """
        let path = state.database
        let outcome = try await onOwnThread {
            try ForeignProgram(path: "/usr/bin/python3").run(["-c", script, path])
        }
        #expect(outcome.status == 0)
        let audit = try await state.run("audit", "verify", "--json")
        #expect(audit.status == 1)
        #expect(audit.text.contains("\"result\":\"tampered\""))
        #expect(audit.text.contains("events are missing, duplicated or moved at 4"))
    }
}
