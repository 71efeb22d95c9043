import TestSupport
import Testing

/// `audit verify` and its checkpoints.
struct AuditTests {
    @Test(
        "V-30 a checkpoint that was stored elsewhere reveals a database replaced by an older state"
    )
    func checkpoint() async throws {
        let state = try ServerProcess.State()
        let server = try await ServerProcess(state)
        let asker = try Asker(server.port, key: try await state.makeKey())
        let alice = try await EnrolledSubject("alice", asker)
        #expect(try await state.run("backup", state.folder.file("early.db")).status == 0)
        _ = try await asker.verify("alice", alice.wrongCodes(1)[0])
        let audit = try await state.run("audit", "verify")
        #expect(audit.status == 0)
        #expect(audit.text.contains(" events, no tampering found.\nwatchword-chain-mark "))
        let kept = try state.folder.write(audit.output, to: "kept.txt")
        // After further events, the checkpoint still matches.
        _ = try await asker.verify("alice", alice.wrongCodes(2)[1])
        #expect(try await state.run("audit", "verify", "--checkpoint", kept).status == 0)
        try await server.stop()

        // The older state is consistent in itself; only the checkpoint reveals the missing events.
        let early = ["--store", "sqlite:\(state.folder.file("early.db"))", "--keys", state.keyFile]
        let alone = try await state.run("audit", "verify", early[0], early[1], early[2], early[3])
        #expect(alone.status == 0)
        let found = try await state.run(
            "audit", "verify", early[0], early[1], early[2], early[3], "--checkpoint", kept)
        #expect(found.status == 1)
        #expect(found.text.contains("does not match"))
        #expect(!found.text.contains("watchword-chain-mark"))

        for (text, words) in [
            ("nothing\n", "no complete checkpoint"),
            (String(audit.text.dropLast(3)), "no complete checkpoint"),
        ] {
            try state.folder.write(Array(text.utf8), to: "spoiled.txt")
            let refused = try await state.run(
                "audit", "verify", "--checkpoint", state.folder.file("spoiled.txt"))
            #expect(refused.status == 3)
            #expect(refused.words.contains(words))
        }
    }
}
