import CommandLineInterface
import Devices
import Exports
import Pictures
import ProcessConfinement
import SecretVault
import Testing
import VaultService
import WatchwordSystem

@testable import Commands

struct MessagesTests {
    @Test(
        "a duration is written in words, to the second",
        arguments: [
            (252, "4 minutes 12 seconds"), (1, "1 second"), (60, "1 minute"), (59, "59 seconds"),
            (61, "1 minute 1 second"), (3600, "1 hour"), (3599, "59 minutes 59 seconds"),
            (7205, "2 hours 5 seconds"), (86_400 * 3 + 60, "3 days 1 minute"),
            (0, "less than a second"),
        ])
    func durations(_ seconds: Int64, _ words: String) {
        #expect(Messages.duration(seconds) == words)
    }

    @Test(
        "three or more consecutive numbers are written as a range",
        arguments: [
            ([], ""), ([2], "2"), ([2, 3], "2, 3"), ([2, 3, 4], "2–4"), ([1, 3, 5], "1, 3, 5"),
            ([1, 2, 5, 6, 7, 9, 10], "1, 2, 5–7, 9, 10"), (Array(2...1000), "2–1000"),
        ])
    func ranges(_ numbers: [Int], _ words: String) {
        #expect(Messages.list(numbers) == words)
    }

    @Test("the message about a killed reader does not claim that a response was sent")
    func endedReader() {
        let words = Messages.sentence(for: Finding.Refusal.reader(.noResponse, .standard))
        #expect(words == "the export reader ended without a response; try again")
        let bad = Messages.sentence(for: Finding.Refusal.reader(.badResponse, .standard))
        #expect(bad == "the export reader sent an invalid response")
    }

    @Test("a sentence explains why PAM could not decide", arguments: UInt8(0)...32)
    func modules(code: UInt8) {
        let failure = PAMCallFailure(call: .authenticate, code: Int32(code))
        let words = Messages.sentence(
            for: PAMCheckFailure(.failed(failure)))
        #expect(words.hasPrefix("PAM could not complete the check: "))
        #expect(!words.contains("pam_") && words.contains("\(code)") == (failure.cause == .other))
        #expect((code == 9) == words.contains("that the check needs"))
        #expect([1, 2, 28].contains(code) == words.contains("could not be loaded"))
    }

    @Test(
        "the sentence for a device key says why it cannot be used",
        arguments: [
            (.missing, "no longer there"), (.damaged, "is damaged"),
            (.token(.badRequest), "is damaged"), (.openToOthers, "chmod -R go= "),
            (.notPlace(.agent), "use tpm or file"), (.notPlace(.file), "use tpm or agent"),
            (.otherOwner, "chown -R"), (.inTheWay, "such as a symbolic link"),
            (.file(SystemCallFailure(call: "openat", number: 13)), "; give yourself access to '"),
            (.file(SystemCallFailure(call: "write", number: 28)), "; check '"),
            (.otherTPM, "only this computer's TPM"), (.notLocked, "no memory can be locked"),
            (.token(.otherDevice), "cleared or replaced"),
            (
                .token(.noDevice),
                "could not be used: no TPM 2 was found; enable it in the firmware; nothing was"
            ),
        ] as [(DeviceKeyProblem, String)])
    func deviceKeys(_ problem: DeviceKeyProblem, _ words: String) {
        let report = FailureReport(VaultError.deviceKey(problem))
        #expect(report.sentence.contains(words))
        let isChoice = if case .notPlace = problem { true } else { false }
        #expect(report.exitCode == (isChoice ? .usage : .system))
    }

    @Test("the sentence for a device key names the folder that can hold it")
    func deviceKeyFolders() {
        let sentence = { (binding: DeviceBinding) in Messages.sentence(for: .missing, binding) }
        let system = "\(SystemAgent.stateFolder)/\(CurrentProcess.user)/device-keys"
        #expect(sentence(.agent).hasSuffix("; restore \(system)"))
        #expect(!sentence(.file).contains(system))
        let hasAgent = SystemFolder.owner(of: SystemAgent.stateFolder) != nil
        #expect(sentence(.tpm).contains(system) == hasAgent)
    }

    @Test("--raise-limits is suggested exactly when it would help")
    func raisedLimits() {
        func suggests(_ refusal: Finding.Refusal) -> Bool {
            Messages.sentence(for: refusal).hasSuffix(
                "; if you trust the file, use --raise-limits")
        }
        func suggests(_ limit: ExportLimit, _ found: UInt64, _ allowed: UInt64) -> Bool {
            suggests(.export(.overLimit(.keePass, limit, found: found, allowed: allowed)))
        }
        #expect(suggests(.reader(.timedOut, .standard)))
        #expect(suggests(.reader(.tooMuchMemory, .standard)))
        #expect(!suggests(.reader(.timedOut, .raised)))
        #expect(!suggests(.reader(.crashed(signal: 11), .standard)))
        #expect(suggests(.file(.tooLarge(limit: 128 << 20))))
        #expect(!suggests(.file(.tooLarge(limit: 512 << 20))))
        #expect(suggests(.fileSize, 129 << 20, 128 << 20))
        #expect(!suggests(.fileSize, 513 << 20, 128 << 20))
        #expect(suggests(.rows, 20_001, 20_000) && !suggests(.rows, 200_001, 200_000))
        #expect(suggests(.iterations, 1 << 29, 1 << 28))
        #expect(!suggests(.iterations, 1 << 40, 1 << 28))
        #expect(!suggests(.iterations, 1 << 40, 1 << 33) && !suggests(.depth, 65, 64))
        #expect(!suggests(.parallelism, .max, .max - 1) && !suggests(.iterations, .max, .max - 1))
        #expect(
            Messages.sentence(
                for: Finding.Refusal.export(
                    .overLimit(.keePass, .iterations, found: 1 << 29, allowed: 1 << 28)))
                == "a KeePass database, but its password needs 536870912 rounds of key derivation; "
                + "the limit is 268435456; if you trust the file, use --raise-limits")
    }

    @Test("an unread file and a refused item have different results")
    func unread() {
        let blank = ImportResult.refused(.picture(.noSymbol(tried: ["a", "b"])))
        #expect(blank.word == "not read" && blank.code == "unread" && blank.tried == ["a", "b"])
        #expect(!blank.reason.contains("tried"))
        let text = ImportResult.refused(.unrelatedSymbol)
        #expect(text.word == "refused" && text.code == "refused" && text.tried == [])
    }

    @Test("a copy whose name is not UTF-8 must be renamed before it can be merged")
    func unnamedCopy() {
        func words(_ path: String) -> String {
            Messages.sentence(for: VaultReport.conflictingCopy(path: path), in: [])
        }
        #expect(
            Messages.sentence(for: .rekeyedCopy(path: "v.orig"), in: []).hasPrefix(
                words("v.orig") + "; its key is different: if the key is newer, "))
        #expect(words("v.orig").hasSuffix("to merge it, run: watchword merge 'v.orig'"))
        #expect(words("v (\u{FFFD} conflicted copy)").contains("rename it, then merge it"))
    }

    @Test("a report about an open vault does not suggest how to unlock it")
    func notCleared() {
        let full = SystemCallFailure(call: "write", number: 28)
        for reason in [VaultError.notCounted(full), .newerAttempts(2)] {
            let words = Messages.sentence(for: VaultReport.failuresNotCleared(reason), in: [])
            #expect(words.contains("the vault is open, but earlier failures are still counted"))
            #expect(!words.contains("nothing was tried") && !words.contains("--recovery-key"))
        }
    }

    @Test("a failure message names the place once, and has the exit status of the cause")
    func placesOfFailures() {
        let code = FailureReport(VaultError.wiped).exitCode
        let rows: [(any Error, String, ExitCode)] = [
            (
                UsageError.missingVerb, "no command given; watchword --help lists the commands",
                .usage
            ),
            (
                CommandFailure.at("v", VaultError.wiped),
                "v: the entry was wiped; only its name is left", code
            ),
            (
                CommandFailure.inEntry("a", AgentFailure.malformed),
                "“a”: the agent sent an invalid response; run watchword agent stop", .system
            ),
            (
                CommandFailure.inEntry("a", CommandFailure.noCodes("a", .hotp)),
                "“a” is counter-based; use watchword code", .no
            ),
            (
                CommandFailure.at("watchword-reader", HelperFailure.notFound),
                "watchword-reader is not installed beside watchword; reinstall Watchword", .system
            ),
        ]
        for (error, sentence, code) in rows {
            let report = FailureReport(error)
            #expect(report.sentence == sentence)
            #expect(report.exitCode == code)
        }
    }
}
