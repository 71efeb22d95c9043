import Foundation
import OneTimePassword
import TestSupport
import Testing
import WatchwordCryptography

@testable import CommandLineInterface
@testable import Commands

@Suite(.serialized)
struct LeakTests {
    private static let passphrase = "Tr0ub4dor-and-3-known"
    private static let newPassphrase = "another-known-passphrase"
    private static let plain = "hunter2-known-plain-secret"
    private static let key: [UInt8] = (0..<32).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 131) }

    private static let base32 = Base32.encode(SecretBytes(copying: key.span)).withBytes { text in
        String(decoding: text.indices.map { text[$0] }, as: UTF8.self)
    }

    private static let secrets = [
        SecretForms("passphrase", bytes: Array(passphrase.utf8)),
        SecretForms("new passphrase", bytes: Array(newPassphrase.utf8)),
        SecretForms("static secret", bytes: Array(plain.utf8)),
        SecretForms("key", bytes: key),
        SecretForms("key as text", bytes: Array(base32.utf8)),
    ]

    /// The user's own files, the only ones with secrets.
    private static let inputs: Set<String> = [
        "pass.txt", "new.txt", "plain.txt", "key.txt", "uri.txt", "lines.txt", "picture.png",
    ]

    private func folder() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let uri = "otpauth://totp/Uri:u?secret=\(Self.base32)&issuer=Uri"
        let texts = [
            "pass.txt": Self.passphrase, "new.txt": Self.newPassphrase, "plain.txt": Self.plain,
            "key.txt": Self.base32, "uri.txt": uri,
            // One error in each part that an error message can mention.
            "lines.txt": """
            \(uri)&digits=\(Self.plain)
            otpauth://totp/x?secret=\(Self.base32)1
            otpauth://\(Self.plain)/x?secret=\(Self.base32)
            otpauth://totp/x?secret=\(Self.base32)&secret=\(Self.base32)
            \(Self.plain)
            otpauth-migration://offline?data=\(Self.base32)
            """,
        ]
        for (name, text) in texts { try folder.write(Array((text + "\n").utf8), to: name) }
        return folder
    }

    /// Every command, successful and failing, but without the options that show a secret.
    private static let commands: [String] = [
        "watchword init --scrypt-log-n 10 --no-recovery-key --passphrase-file pass.txt",
        "watchword qr write --text-file uri.txt --png picture.png",
        "watchword add Key:k --secret-file key.txt --passphrase-file pass.txt",
        "watchword add --uri-file uri.txt --passphrase-file pass.txt",
        "watchword add --qr picture.png Qr:q --passphrase-file pass.txt",
        "watchword add plain --type secret --secret-file plain.txt --passphrase-file pass.txt",
        "watchword add wrong --secret-file plain.txt --passphrase-file pass.txt",
        "watchword add --uri-file lines.txt --passphrase-file pass.txt",
        "watchword add --uri-file key.txt --passphrase-file pass.txt",
        "watchword import lines.txt picture.png key.txt --passphrase-file pass.txt",
        "watchword --json import lines.txt picture.png key.txt --passphrase-file pass.txt",
        "watchword list --passphrase-file pass.txt", "watchword list --passphrase-file plain.txt",
        "watchword list --passphrase-file key.txt --json",
        "watchword list --recovery-key-file key.txt",
        "watchword list --recovery-key-file plain.txt",
        "watchword --json list --passphrase-file pass.txt",
        "watchword code Key:k --passphrase-file pass.txt",
        "watchword --json code Key:k --passphrase-file pass.txt",
        "watchword code plain --passphrase-file pass.txt",
        "watchword watch --passphrase-file pass.txt",
        "watchword show Key:k --passphrase-file pass.txt",
        "watchword show plain --json --passphrase-file pass.txt",
        "watchword show Key:k --reveal --passphrase-file pass.txt",
        "watchword show plain --uri --passphrase-file pass.txt",
        "watchword verify 000000 Key:k --passphrase-file pass.txt",
        "watchword verify 000000 --secret-file key.txt",
        "watchword totp --secret-file key.txt", "watchword totp --secret-file plain.txt",
        "watchword hotp --secret-file key.txt --json", "watchword hotp --secret-file uri.txt",
        "watchword edit plain --secret-file key.txt --passphrase-file pass.txt",
        "watchword edit plain --secret-file plain.txt --presence per-use --passphrase-file pass.txt",
        "watchword edit Key:k --secret-file plain.txt --passphrase-file pass.txt",
        "watchword edit Key:k --digits 8 --json --secret-file key.txt --passphrase-file pass.txt",
        "watchword edit Key:k --on-failure wipe:1 --passphrase-file plain.txt",
        "watchword edit Key:k --account hunter2 --period 0 --passphrase-file pass.txt",
        "watchword rename plain other --passphrase-file pass.txt",
        "watchword undo --yes --passphrase-file pass.txt",
        "watchword rename plain other --passphrase-file pass.txt",
        "cp -p .local/share/watchword/vault copy",
        "watchword merge copy --passphrase-file pass.txt",
        "chmod 600 plain.txt; watchword merge plain.txt --passphrase-file pass.txt",
        "watchword export --format watchword -o backup --export-password-file new.txt "
            + "--passphrase-file pass.txt",
        "watchword pick --passphrase-file pass.txt",
        "mkdir -m 700 run; \(agent) watchword unlock --passphrase-file pass.txt",
        "\(agent) watchword unlock --passphrase-file plain.txt",
        "\(agent) watchword code Key:k", "\(agent) watchword agent status",
        "\(agent) watchword lock", "\(agent) watchword agent stop",
        "watchword vault move --to-system --passphrase-file pass.txt",
        "watchword login enrol new \(ticket)", "watchword key enrol new \(ticket)",
        "watchword login present Key:k --passphrase-file pass.txt",
        "watchword login status Key:k --passphrase-file pass.txt",
        "watchword login wipe Key:k --yes --passphrase-file pass.txt",
        "watchword key present Key:k --passphrase-file pass.txt",
        "watchword key confirm Key:k --challenge-file plain.txt --passphrase-file pass.txt",
        "watchword key status Key:k --passphrase-file pass.txt",
        "watchword key wipe Key:k --yes --passphrase-file pass.txt",
        "watchword passphrase --passphrase-file pass.txt --new-passphrase-file new.txt "
            + "--scrypt-log-n 10",
        "watchword list --passphrase-file pass.txt",
        "watchword rekey --passphrase-file new.txt",
        "watchword slot list --passphrase-file new.txt",
        "watchword slot add passphrase --scrypt-log-n 10 --passphrase-file new.txt "
            + "--new-passphrase-file pass.txt",
        "watchword check --passphrase-file new.txt",
        "watchword slot remove 1 --yes --passphrase-file new.txt",
        "watchword check --json --passphrase-file pass.txt",
        "watchword remove other --yes --purge --passphrase-file pass.txt",
        "printf junk >>.local/share/watchword/vault; watchword check --passphrase-file pass.txt",
        "watchword qr read lines.txt", "watchword --help", "watchword import --help",
        "watchword completions bash", "watchword manual",
    ]

    private static let agent = "XDG_RUNTIME_DIR=$PWD/run"
    private static let ticket =
        "--server https://localhost:1 --ticket-file plain.txt --passphrase-file pass.txt"

    @Test("every command is tested for leaked secrets")
    func everyCommand() {
        let run = Self.commands.map { $0.replacing("--json ", with: "") + " " }
        for verb in Verb.allCases {
            let name = verb.entry.name
            #expect(run.contains { $0.contains("watchword \(name) ") }, "\(name)")
        }
    }

    @Test("no secret appears in any output, or in any file except the inputs")
    func outputs() throws {
        let folder = try folder()
        for command in Self.commands {
            let outcome = try Transcript.run(command, in: folder)
            #expect(outcome.status >= 0 && outcome.status < 128, "\(command)")
            for secret in Self.secrets {
                #expect(!secret.isIn(outcome.output), "\(secret.name) printed by \(command)")
                #expect(
                    !secret.isIn(outcome.errors), "\(secret.name) in the messages of \(command)")
            }
        }
        let files = FileManager.default.enumerator(atPath: folder.path)
        var count = 0
        while let name = files?.nextObject() as? String {
            let kind = try FileManager.default.attributesOfItem(atPath: folder.file(name))[.type]
            let isFile = kind as? FileAttributeType == .typeRegular
            if !isFile || Self.inputs.contains(name) { continue }
            count += 1
            let bytes = try folder.bytes(of: name)
            for secret in Self.secrets { #expect(!secret.isIn(bytes), "\(secret.name) in \(name)") }
        }
        #expect(count >= 2)
    }

    @Test("the search for leaked secrets finds each form of a secret")
    func searching() {
        let secret = SecretForms("key", bytes: Self.key)
        for form in secret.all { #expect(secret.isIn([1, 2] + form + [3])) }
        #expect(!secret.isIn(Array("nothing".utf8)))
    }

    /// Starts a process that waits for the rest of its passphrase.
    private func waiting(in folder: TemporaryFolder) throws -> (Process, Pipe, Pipe) {
        let made = try Transcript.run(
            "echo x | watchword init -q --vault v --scrypt-log-n 10 --no-recovery-key "
                + "--passphrase-file -", in: folder)
        #expect(made.status == 0)
        let process = Process()
        let (input, output) = (Pipe(), Pipe())
        process.executableURL = URL(filePath: BuiltProgram.path("watchword"))
        process.arguments = ["list", "--vault", folder.file("v"), "--passphrase-file", "-"]
        process.environment = ["HOME": folder.path, "PATH": "/usr/bin:/bin"]
        process.standardInput = input
        process.standardOutput = output
        process.standardError = output
        try process.start()
        input.fileHandleForWriting.write(Data(Self.passphrase.utf8))
        // Wait until the process has read the pipe.
        while try FileHandle.isUnread(input) {
            // A process that has ended would never read it.
            try #require(process.isRunning)
            sched_yield()
        }
        return (process, input, output)
    }

    @Test(
        "a running process has no secret in its arguments or environment, and writes no core file")
    func process() throws {
        let folder = try TemporaryFolder()
        let (process, input, _) = try waiting(in: folder)
        let number = process.processIdentifier
        for name in ["cmdline", "environ"] {
            let file = FileManager.default.contents(atPath: "/proc/\(number)/\(name)") ?? Data()
            for secret in Self.secrets { #expect(!secret.isIn([UInt8](file)), "\(name)") }
        }
        let limits = try String(contentsOfFile: "/proc/\(number)/limits", encoding: .utf8)
        #expect(limits.contains(/Max core file size\s+0\s+0\s/))
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
        #expect(process.terminationStatus == 4)
    }

    @Test(
        "a crash does not print the contents of memory", arguments: [SIGSEGV, SIGILL, SIGABRT])
    func crash(_ signal: Int32) throws {
        let folder = try TemporaryFolder()
        let (process, input, output) = try waiting(in: folder)
        kill(process.processIdentifier, signal)
        let said = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        try input.fileHandleForWriting.close()
        #expect(process.terminationReason == .uncaughtSignal)
        #expect(said.isEmpty)
    }
}
