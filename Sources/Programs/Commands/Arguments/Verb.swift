import CommandLineInterface
import Exports
import Pictures
import SecretVault
import VaultService
import WatchwordCryptography
import WatchwordSystem

/// A command of `watchword`.
struct Verb: ProgramVerb {
    typealias Function = @Sendable (Session) throws -> ExitCode

    /// Every command: its name, the function that runs it, its operands, and its options.
    ///
    /// Help/Help.txt has a section for each.
    static let allCases: [Verb] = [
        Verb("init", InitCommand.run) { [.noRecoveryKey, .scryptLogN] },
        Verb("add", AddCommand.run, .optionalName) {
            [
                .uriFile, .qr, .secretFile, .encoding, .issuer, .account, .type, .algorithm,
                .digits, .period, .counter, .tag, .note, .icon, .favourite, .presence, .reuse,
                .onFailure, .thisDevice, .fingers,
            ]
        },
        Verb("import", ImportCommand.run, .optionalPaths) {
            [
                .screen, .camera, .dryRun, .onDuplicate, .exportPasswordFile.repeatable, .keyFile,
                .includeDeleted, .raiseLimits, .verbose, .presenceCheck,
            ]
        },
        Verb("code", CodeCommand.run, .someNames) {
            [.copy, .clearAfter, .at, .next, .presenceCheck, .readOnly]
        },
        Verb("pick", PickCommand.run, .optionalName) {
            [.sort, .idle, .copy, .clearAfter, .presenceCheck, .readOnly]
        },
        Verb("watch", WatchCommand.run, .names) {
            [.sort, .idle, .copy, .clearAfter, .presenceCheck, .readOnly]
        },
        Verb("list", ListCommand.run, .optionalName) {
            [.tag, .sort, .names, .tags, .agentOnly, .readOnly]
        },
        Verb("show", ShowCommand.run, .name) {
            [.uri, .qrShown, .qrPNG, .reveal, .force, .yes, .presenceCheck, .readOnly]
        },
        Verb("edit", EditCommand.run, .name) {
            [
                .presence, .reuse, .onFailure, .thisDevice, .noThisDevice, .fingers, .issuer,
                .account, .algorithm, .digits, .period, .counter, .secretFile, .encoding, .tag,
                .untag, .note, .icon, .favourite, .noFavourite, .presenceCheck,
            ]
        },
        Verb("rename", RenameCommand.rename, .nameAndNewName) { [.presenceCheck] },
        Verb("remove", RenameCommand.remove, .name) { [.yes, .purge, .presenceCheck] },
        Verb("undo", UndoCommand.run) { [.dryRun, .yes, .presenceCheck] },
        Verb("merge", MergeCommand.run, .file) {
            [.dryRun, .acceptWipes, .oldEdits, .into, .copyPassphraseFile, .presenceCheck]
        },
        Verb("export", ExportCommand.run) {
            [
                .format, .output, .only, .plain, .exportPasswordFile, .force, .verbose, .yes,
                .skipPerUse, .presenceCheck, .readOnly,
            ]
        },
        Verb("passphrase", SlotCommand.changePassphrase) {
            [.newPassphraseFile, .slot, .keepKey, .scryptLogN]
        },
        Verb("rekey", SlotCommand.rekey),
        Verb("slot list", SlotCommand.list) { [.readOnly] },
        Verb("slot add", SlotCommand.add, .word(["passphrase", "recovery-key", "tpm2", "fido2"])) {
            [.newPassphraseFile, .scryptLogN, .noPIN, .pcr7, .device]
        },
        Verb("slot remove", SlotCommand.remove, .one("SLOT")) { [.keepKey, .yes] },
        Verb("check", CheckCommand.run) { [.readOnly] },
        Verb("vault move", VaultMoveCommand.run) { [.toSystem, .toUser] },
        Verb("unlock", UnlockCommand.run) { [.idle, .atMost, .unlockedMemory] },
        Verb("lock", LockCommand.run) { [.allVaults] },
        Verb("agent status", AgentCommand.status),
        Verb("agent stop", AgentCommand.stop),
        Verb("login enrol", LoginEnrolCommand.run, .name) {
            [
                .server, .ticketFile, .caFile, .deviceName, .thisDevice, .noThisDevice, .presence,
                .onFailure, .presenceCheck,
            ]
        },
        Verb("login present", LoginCommand.present, .name) { [.presenceCheck] },
        Verb("login status", LoginCommand.status, .name) { [.readOnly, .presenceCheck] },
        Verb("login wipe", LoginCommand.wipe, .name) { [.yes] },
        Verb("key enrol", KeyEnrolCommand.run, .name) {
            [
                .server, .ticketFile, .caFile, .custody, .pin, .attest, .deviceName, .presence,
                .onFailure, .presenceCheck,
            ]
        },
        Verb("key present", KeyCommand.present, .name) { [.presenceCheck] },
        Verb("key confirm", KeyCommand.confirm, .name) {
            [.challengeFile, .presenceCheck, .yes]
        },
        Verb("key status", KeyCommand.status, .name) { [.readOnly, .presenceCheck] },
        Verb("key wipe", LoginCommand.wipe, .name) { [.yes] },
        Verb("totp", TOTPCommand.timeBased) {
            [.secretFile, .algorithm, .digits, .period, .at, .start, .count]
        },
        Verb("hotp", TOTPCommand.counterBased) {
            [.secretFile, .algorithm, .digits, .counter, .count]
        },
        Verb("verify", VerifyCommand.run, .oneAndOptionalName("CODE")) {
            [
                .secretFile, .window, .type, .algorithm, .digits, .period, .at, .start, .counter,
                .presenceCheck, .readOnly,
            ]
        },
        Verb("qr read", QRReadCommand.run, .paths) { [.yes] },
        Verb("qr write", QRWriteCommand.run) { [.textFile, .png, .svg, .force] },
        Verb(
            "completions", ManualCommand.completions,
            .word(CompletionScript.Shell.allCases.map(\.rawValue))),
        Verb("manual", ManualCommand.manual),
    ]

    let entry: VerbEntry
    let run: Function

    private init(
        _ name: String, _ run: @escaping Function, _ operands: Operands = .none,
        options: @escaping @Sendable () -> [Option] = { [] }
    ) {
        entry = VerbEntry(name, operands, options: options)
        self.run = run
    }

    static let program = "watchword"
    static let global = Option.global

    static func check(_ arguments: ParsedArguments) throws(UsageError) {
        let first = arguments.entry.operands.firstName
        for (position, operand) in arguments.operands.enumerated() where position >= first {
            guard !EntryName.isBlank(operand) else { throw .emptyName }
            if let form = SecretForm(inName: operand) { throw .secretAsOperand("NAME", form) }
        }
        if arguments.entry.operands.arePaths {
            // A key cannot be distinguished from a file name, but a URI can.
            let forms = arguments.operands.lazy.compactMap(SecretForm.init(inURI:))
            if let form = forms.first { throw .secretAsOperand("PATH", form) }
        }
        for option in [Option.issuer, .account] {
            // An issuer or an account may look like a key, but contains a URI only by mistake.
            guard let form = arguments.given(option).flatMap(SecretForm.init(inURI:)) else {
                continue
            }
            throw .secretAsOperand("--\(option.name)", form)
        }
        try arguments.checkStandardInput()
    }
}

typealias ManualPage = CommandLineInterface.ManualPage<Verb>

extension ParsedArguments {
    /// Refuses two options that both read standard input or both write to standard output.
    fileprivate func checkStandardInput() throws(UsageError) {
        let streams = given.filter { $0.value == "-" && $0.option.value == .file }.map(\.option)
        let writers = streams.filter { [.png, .svg, .qrPNG, .output].contains($0) }
        var readers = streams.count - writers.count
        if given(.note) == "-" { readers += 1 }
        if entry.operands.arePaths, operands.contains("-") { readers += 1 }
        if readers > 1 { throw .twoReadersOfStandardInput }
        if writers.count > 1 { throw .conflict(Option.png.name + " -", Option.svg.name + " -") }
    }
}

extension Verb {
    /// The help and the manual, with the numbers in them.
    static var documents: ProgramDocuments {
        let (limits, raised) = (ExportLimits.standard, ExportLimits.raised)
        let waits = LockOutPolicy.minutes.map { "\($0)" }
        return ProgramDocuments(
            help: PackageResources.Help_txt, manual: PackageResources.Manual_mdoc,
            values: [
                "clipboardSeconds": "\(CodeCopy.longest)",
                "codesAhead": "\(CodeComparison.widestAhead)",
                "exportMemory": "\(limits.memory >> 30)",
                "exportMinutes": "\(limits.time.wholeSeconds / 60)",
                "exportSize": "\(limits.bytes >> 20)",
                "firstWait": Messages.firstWait,
                "frames": "\(ImageLimits.standard.frames)",
                "heldHours": "\(HoldingTime.standard.total.wholeSeconds / 3600)",
                "idleMinutes": "\(HoldingTime.standard.idle.wholeSeconds / 60)",
                "laterWaits": Messages.laterWaits,
                "listMinutes": "\(Session.idleLimit.wholeSeconds / 60)",
                "listedItems": "\(ImportReport.mostListed)",
                "lockOutFailures": "\(LockOutPolicy.firstFailureWithWait)",
                "lockOutWaits":
                    waits.dropLast().joined(separator: ", ") + ", then " + waits[waits.count - 1],
                "raisedMemory": "\(raised.memory >> 30)",
                "raisedSize": "\(raised.bytes >> 20)",
                "recordedSaves": "\(Vault.recordedSaveCount)",
                "reuseTimes": "\(ReuseTime.range.lowerBound) to \(ReuseTime.range.upperBound)",
                "scryptCost": "\(ScryptCost.standard.logN)",
                "unlockCost": "\(Vault.defaultCeiling)",
                "wipeFailures": "\(AccessControl.OnFailure.standardCount)",
            ])
    }
}

/// `completions` and `manual`, generated from the table of commands.
enum ManualCommand {
    static func completions(_ session: Session) throws -> ExitCode {
        let word = session.arguments.operands[0]
        let script = try CompletionScript.of(
            word, program: Verb.program, names: "list --\(Option.agentOnly.name)")
        try session.printer.line(script)
        return .done
    }

    static func manual(_ session: Session) throws -> ExitCode {
        try session.printer.line(ManualPage.text)
        return .done
    }
}
