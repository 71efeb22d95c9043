import Foundation
import TestSupport
import Testing

@testable import SecretVault

/// A folder with a vault, its passphrase in `pass.txt` and its recovery key in `recovery.txt`.
struct VaultFixture {
    static let passphrase = "correct-horse-battery"
    static let key = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"

    let folder: TemporaryFolder

    /// Creates the vault and adds entries; each string has the arguments of `watchword add -q`.
    init(_ entries: [String] = ["Site:me --secret-file key.txt"], recoveryKey: Bool = false) throws
    {
        folder = try TemporaryFolder()
        try folder.write(Array((Self.passphrase + "\n").utf8), to: "pass.txt")
        try folder.write(Array((Self.key + "\n").utf8), to: "key.txt")
        try run(
            "watchword init -q --scrypt-log-n 10 --passphrase-file pass.txt"
                + (recoveryKey ? " >recovery.txt" : " --no-recovery-key"))
        for entry in entries { try run("watchword add -q \(entry) --passphrase-file pass.txt") }
    }

    /// Runs a command without a terminal and expects `status`.
    @discardableResult
    func run(_ command: String, status: Int32 = 0) throws -> ForeignProgram.Outcome {
        let outcome = try Transcript.run(command, in: folder)
        let errors = String(decoding: outcome.errors, as: UTF8.self)
        #expect(outcome.status == status, "\(command)\n\(outcome.text)\(errors)")
        return outcome
    }

    func terminal(_ command: String) throws -> PseudoTerminal {
        try PseudoTerminal(command, in: folder)
    }

    /// The first line of a file in the folder.
    func line(of name: String) throws -> String {
        String(decoding: try folder.bytes(of: name).prefix { $0 != 0x0A }, as: UTF8.self)
    }

    private static let vault = ".local/share/watchword/vault"

    func vault() throws -> String {
        String(decoding: try folder.bytes(of: Self.vault), as: UTF8.self)
    }

    /// Whether the count of failures or of undecided attempts is above zero.
    func countsFailures() throws -> Bool {
        let document = try VaultDocument(parsing: folder.bytes(of: Self.vault))
        let location = try VaultLocation(folder.file(Self.vault))
        return try !Attempts.read(location, of: document.vaultID).isEmpty
    }
}

extension PseudoTerminal {
    /// Waits for each prompt before it types the answer.
    func answer(_ dialogue: [(question: String, answer: String)]) throws {
        for (question, answer) in dialogue {
            try waitFor(question)
            // The next prompt can have the same text.
            clear()
            try type(answer + "\n")
        }
    }
}
