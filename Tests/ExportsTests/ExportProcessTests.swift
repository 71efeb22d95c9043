internal import Exports
internal import OneTimePassword
internal import ProcessConfinement
internal import TestSupport
internal import Testing
internal import WatchwordCryptography
internal import WatchwordSystem

/// Whatever an export makes its reader do, only that export is lost.
@Suite struct ExportProcessTests {
    private func read(
        _ content: String, program: String = "FaultyExportReader",
        timeout: Duration = .seconds(60)
    ) throws -> ReadOutcome {
        try ReadOutcome.read(Array(content.utf8), program: program, timeout: timeout)
    }

    @Test("the reader returns the entries of an export")
    func entries() throws {
        #expect(try read("an export") == .entries([":an export"]))
    }

    @Test("an encrypted export is read again with each password")
    func passwords() throws {
        let reader = try ExportProcess(path: BuiltProgram.path("FaultyExportReader"))
        #expect(try reader.outcome(of: "encrypted") == .refused(.passwordNeeded(.aegis)))
        for (password, expected) in [
            ("wrong", ReadOutcome.refused(.wrongPassword(.aegis))),
            ("right", .entries(["right:encrypted"])),
        ] {
            #expect(try reader.outcome(with: password) == expected)
        }
    }

    @Test("the name, the manifest and the key file reach the reader with the file")
    func parts() throws {
        let source = ExportSource(
            SecretBytes(text: "a file"), name: "1.maFile", manifest: SecretBytes(text: "manifest"),
            keyFile: SecretBytes(text: "key file"))
        for limits in [ExportLimits.standard, .raised] {
            let reader = try ExportProcess(
                path: BuiltProgram.path("FaultyExportReader"), limits: limits)
            #expect(
                try ReadOutcome(reader.read(source)) == .entries([":1.maFile manifest key file"]))
        }
    }

    @Test("files of every size around the chunk size arrive complete")
    func sizes() throws {
        for size in [0, 1, 65_535, 65_536, 65_537, 131_072, 200_000] {
            let content = String(repeating: "a", count: size)
            #expect(try read(content) == .entries([":" + content.prefix(40)]))
        }
    }

    @Test("a file of 128 MiB is read, and one byte more is too large")
    func largest() throws {
        let part = [UInt8](repeating: UInt8(ascii: "a"), count: 1 << 20)
        for (size, expected) in [
            (128 << 20, ReadOutcome.entries([":" + String(repeating: "a", count: 40)])),
            (
                128 << 20 + 1,
                .refused(.overLimit(nil, .fileSize, found: 128 << 20 + 1, allowed: 128 << 20))
            ),
        ] {
            let file = SecretBytes(capacity: size) { output in
                for _ in 0..<size / part.count { output.append(copying: part.span) }
                for _ in 0..<size % part.count { output.append(part[0]) }
            }
            let reader = try ExportProcess(path: BuiltProgram.path("FaultyExportReader"))
            #expect(try ReadOutcome(reader.read(ExportSource(file))) == expected)
        }
    }

    @Test("20,000 entries arrive in one answer")
    func manyEntries() throws {
        #expect(try read("20,000 entries") == .entries((0..<20_000).map { ":\($0)" }))
    }

    @Test(
        "a reader that fails is reported",
        arguments: [
            ("segfault", HelperLoss.crashed(signal: 11)), ("open a file", .forbiddenCall),
            ("eat memory", .tooMuchMemory), ("leave", .noResponse),
        ])
    func faults(fault: String, loss: HelperLoss) throws {
        #expect(try read(fault) == .lost(loss))
    }

    @Test("a reader that never answers is killed when the timeout expires")
    func loop() throws {
        #expect(try read("loop", timeout: .milliseconds(300)) == .lost(.timedOut))
    }

    @Test("a reader that crashes while it decrypts is reported, and is not used again")
    func crashWithPassword() throws {
        let reader = try ExportProcess(path: BuiltProgram.path("FaultyExportReader"))
        #expect(
            try reader.outcome(of: "crash on a password") == .refused(.passwordNeeded(.ente)))
        #expect(try reader.outcome(with: "any") == .lost(.crashed(signal: 11)))
        #expect(try reader.outcome(with: "any") == .lost(.noResponse))
    }

    @Test(
        "an answer that describes an export but violates the protocol is rejected",
        arguments: [
            "unknown format", "more entries than sent", "fewer entries than sent",
            "4 billion entries", "200,001 entries", "unknown content", "empty key",
            "key beyond the end", "issuer that is not UTF-8", "issuer with a space at its end",
            "unknown algorithm", "11 digits", "period of zero", "negative period",
            "unknown state", "favourite of two", "last use of two", "unknown warning",
            "warning with an unknown alias", "row zero", "unknown reason", "picture zero",
            "bytes after an export", "unknown error", "error about an unknown format",
            "half an error", "unknown verdict", "nothing in a frame", "frame of 4 GiB", "endless",
        ])
    func lies(lie: String) throws {
        #expect(try read(lie, program: "LyingExportReader") == .lost(.badResponse))
    }

    @Test("the valid answer from which the invalid ones are made is accepted")
    func soundAnswer() throws {
        #expect(try read("sound export", program: "LyingExportReader") == .entries(["Acme:ann"]))
    }

    @Test("an unrequested answer is not used for the next password")
    func twice() throws {
        let reader = try ExportProcess(path: BuiltProgram.path("LyingExportReader"))
        #expect(try reader.outcome(of: "answer twice") == .entries(["Acme:ann"]))
        #expect(try reader.outcome(with: "any") == .lost(.badResponse))
    }

    @Test("a program that is not a reader causes a different error")
    func otherPrograms() throws {
        #expect(throws: HelperFailure.notFound) {
            try ReadOutcome.read([1], path: "/nonexistent/reader")
        }
        // It may be killed before it has exited.
        let ended: [HelperFailure] = [.died(.exited(1)), .died(.killed)]
        let failure = #expect(throws: HelperFailure.self) {
            try ReadOutcome.read([1], path: "/bin/false")
        }
        #expect(failure.map(ended.contains) == true)
        #expect(throws: HelperFailure.otherVersion) {
            try ReadOutcome.read([1], path: "/usr/bin/yes")
        }
    }
}

extension ExportProcess {
    fileprivate func outcome(of file: String) throws -> ReadOutcome {
        ReadOutcome(try read(ExportSource(SecretBytes(text: file))))
    }

    fileprivate func outcome(with password: String) throws -> ReadOutcome {
        ReadOutcome(try read(password: SecretBytes(text: password)))
    }
}

/// The outcome for an export, with the names of its entries.
enum ReadOutcome: Equatable {
    case entries([String])
    case refused(ExportError)
    case lost(HelperLoss)

    init(_ outcome: ExportOutcome) {
        self =
            switch outcome {
            case .export(let export): .entries(export.entries.map(Self.name))
            case .refused(let error): .refused(error)
            case .lost(let loss): .lost(loss)
            }
    }

    static func read(
        _ content: [UInt8], program: String, timeout: Duration = .seconds(60)
    ) throws -> ReadOutcome {
        try read(content, path: BuiltProgram.path(program), timeout: timeout)
    }

    static func read(
        _ content: [UInt8], path: String, timeout: Duration = .seconds(60)
    ) throws -> ReadOutcome {
        let reader = try ExportProcess(path: path, timeout: timeout)
        return ReadOutcome(try reader.read(ExportSource(SecretBytes(copying: content.span))))
    }

    private static func name(_ entry: ExportedEntry) -> String {
        switch entry.content {
        case .oneTimePassword(let credential): credential.issuer + ":" + credential.account
        case .notComputed(let code): code.issuer + ":" + code.account
        }
    }
}
