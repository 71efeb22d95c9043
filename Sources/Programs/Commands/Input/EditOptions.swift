import CommandLineInterface
import OneTimePassword
import SecretVault
import VaultService
import WatchwordCoding
import WatchwordCryptography
import WatchwordSystem

// The changes to an entry's tags, note, icon and favourite mark that the options request.
extension DetailsChange {
    static let options: [Option] = [.tag, .untag, .note, .icon, .favourite, .noFavourite]

    /// Parses the options; refuses a secret among them.
    init(_ session: Session) throws {
        let arguments = session.arguments
        let tags = arguments.values(of: .tag)
        for tag in tags {
            guard let form = SecretForm(inName: tag) else { continue }
            throw UsageError.secretAsOperand("--\(Option.tag.name)", form)
        }
        try arguments.forbid(.favourite, .noFavourite)
        let icon = arguments.given(.icon)
        if let icon, let form = SecretForm(inName: icon) {
            throw UsageError.secretAsOperand("--\(Option.icon.name)", form)
        }
        let note = try DetailsChange.note(session)
        let isFavourite =
            arguments.has(.favourite) ? true : arguments.has(.noFavourite) ? false : nil
        self.init(
            added: tags, removed: arguments.values(of: .untag), note: note, icon: icon,
            isFavourite: isFavourite)
    }

    private static func note(_ session: Session) throws -> String? {
        guard let text = session.arguments.given(.note) else { return nil }
        guard text != "-" else { return try noteFromStandardInput() }
        for word in text.split(whereSeparator: \.isWhitespace) {
            guard let form = SecretForm(inURI: String(word)) else { continue }
            throw UsageError.secretAsOperand("--\(Option.note.name)", form)
        }
        return text
    }

    private static func noteFromStandardInput() throws -> String {
        let source = SecretSource("-")
        let bytes = try source.read(limit: EntryDetails.longestNote + 1).withoutLastLineEnd()
        let text = bytes.withBytes { bytes in
            String(validating: bytes.indices.map { bytes[$0] }, as: UTF8.self)
        }
        guard let text else {
            throw UsageError.badValue(Option.note.name, expected: "text in UTF-8")
        }
        return text
    }
}

// The changes to an entry's codes and secret that the options request.
extension CodeChange {
    /// The options that request such changes.
    static let options: [Option] = [.algorithm, .digits, .period, .counter, .secretFile]

    /// Parses `--algorithm`, `--digits`, `--period` and `--counter`; the secret is read later, by
    /// ``readSecret(for:_:)``.
    init(_ session: Session) throws {
        let arguments = session.arguments
        var length: CodeLength?
        if arguments.has(.digits), case .decimal(let given) = try session.style() { length = given }
        self.init(
            algorithm: arguments.has(.algorithm) ? try session.algorithm() : nil, length: length,
            period: arguments.has(.period) ? try session.timeStep().period : nil,
            counter: arguments.has(.counter) ? try session.counter() : nil)
    }

    /// Reads the new secret if `--secret-file` is given.
    mutating func readSecret(for kind: EntryKind, _ session: Session) throws {
        guard session.arguments.has(.secretFile) else { return }
        secret = kind == .secret ? try session.plainSecret() : try session.key()
    }
}

extension Session {
    /// The binding that `--this-device` requests; `nil` for none.
    ///
    /// - Parameters:
    ///   - name: the device's name; if empty, the name of this computer is used.
    ///   - isDefault: whether the entry is bound unless `--no-this-device` is given.
    func binding(named name: String = "", byDefault isDefault: Bool = false) throws
        -> BindingChoice?
    {
        try arguments.forbid(.thisDevice, .noThisDevice)
        guard arguments.has(.thisDevice) || isDefault && !arguments.has(.noThisDevice) else {
            return nil
        }
        let word = try arguments.choice(.thisDevice)
        return BindingChoice(
            word.flatMap(DeviceBinding.init(rawValue:)),
            deviceName: name.isEmpty ? Environment.hostName() ?? "" : name, tpm: try tpmAddress())
    }

    /// Whether `--fingers` requires the fingers that are enrolled now; `nil` without the option.
    ///
    /// - Parameter presence: the entry's presence setting after the edit.
    func requiresCurrentFingers(under presence: AccessControl.Presence) throws -> Bool? {
        guard let word = try arguments.choice(.fingers) else { return nil }
        guard presence == .perUse(.pam) else {
            throw UsageError.needs(
                Option.fingers.name, with: "\(Option.presence.name) per-use:pam")
        }
        return word == "current"
    }

    /// Refuses `--fingers` unless the system agent keeps the vault.
    func expectFingers(_ fingers: Bool?, of vault: any OpenVault) throws {
        guard fingers == nil || vault.isKeptBySystem else {
            throw CommandFailure.fingersInOwnVault
        }
    }

    /// Refuses an entry whose secret opens only on a different device.
    func requireHome(of entry: EntrySummary) throws {
        guard entry.isHere else { throw CommandFailure.closed(entry, .boundElsewhere) }
    }

    /// Warns that older versions no longer open the vault, after the vault's first entry was bound.
    ///
    /// - Parameter entries: the entries before the edit.
    func warnOfFormat(of entries: [EntrySummary]) {
        guard !entries.contains(where: { $0.binding != nil }) else { return }
        printer.warn(Messages.newFormat)
    }

    /// Warns about entries that a merge or an undo has bound: the change can be undone, so the
    /// secrets are still in the previous generation.
    ///
    /// - Parameter former: the entries before.
    func warnOfBindings(since former: [EntrySummary], in vault: any OpenVault) throws {
        let bound = try currentEntries(of: vault).filter { $0.binding != nil }
        guard !bound.isEmpty else { return }
        warnOfFormat(of: former)
        let unbound = Set(former.filter { $0.binding == nil }.map(\.id))
        let new = bound.filter { unbound.contains($0.id) }
        guard !new.isEmpty else { return }
        let here = new.first(where: \.isHere)
        let verb = here.map { "edit \(ShellWord.quoted($0.name.text)) --this-device" } ?? "rekey"
        printer.warn(
            "until the next change, the vault's previous generation still contains these secrets "
                + "without their binding: \(new.map(\.name.visible).joined(separator: ", ")); "
                + "to erase it now, run: \(program) \(verb)")
    }
}

extension DeviceBinding? {
    /// The facts for scripts.
    var record: Record { [("binding", map { .text($0.rawValue) } ?? .null)] }

    /// The sentence after the result.
    var note: String {
        map {
            " It now opens only on this device, \(Messages.description(of: $0)) (\($0.rawValue))."
        }
            ?? ""
    }
}

// Access control values in options and JSON.
extension AccessControl.Presence {
    /// Parses a value of `--presence`, ignoring case; `nil` if it is invalid.
    init?(word: String) {
        let typed = word.lowercased()
        // The default check can be given explicitly.
        let any = AccessControl.Presence.perUse(.any)
        if typed == "\(any.word):\(AccessControl.Check.any.rawValue)" {
            self = any
        } else {
            self.init { $0 == typed }
        }
    }
}

extension AccessControl.OnFailure {
    /// The number of failures for `wipe` without a number, as for enrolled secrets.
    static let standardCount = 3

    /// The value of `--on-failure`.
    var word: String {
        switch self {
        case .lockOut: "lock-out"
        case .wipe(let count): "wipe:\(count.value)"
        }
    }

    /// Parses a value of `--on-failure`, ignoring case; `nil` if it is invalid.
    init?(word: String) {
        let typed = word.lowercased()
        if typed == "lock-out" {
            self = .lockOut
            return
        }
        let parts = typed.split(separator: ":", omittingEmptySubsequences: false)
        guard parts[0] == "wipe", parts.count <= 2 else { return nil }
        let number = parts.count == 2 ? parts[1] : "\(AccessControl.OnFailure.standardCount)"
        // `Int(_:)` would accept a plus sign, which is refused.
        guard !number.hasPrefix("+"), let value = Int(number), let count = FailureCount(value)
        else { return nil }
        self = .wipe(after: count)
    }
}

// The changes to access control that the options request.
extension AccessControlChange {
    /// Parses `--presence`, `--on-failure` and `--reuse`.
    init(_ session: Session) throws {
        var presence: AccessControl.Presence?
        if let text = session.arguments[.presence] {
            presence = AccessControl.Presence(word: text)
            guard presence != nil else {
                let expected = "per-unlock, per-use, per-use:passphrase or per-use:pam"
                throw UsageError.badValue(Option.presence.name, expected: expected)
            }
        }
        var onFailure: AccessControl.OnFailure?
        if let text = session.arguments[.onFailure] {
            onFailure = AccessControl.OnFailure(word: text)
            guard onFailure != nil else {
                let expected = "lock-out, wipe, or wipe:N with N from 1 to 100"
                throw UsageError.badValue(Option.onFailure.name, expected: expected)
            }
        }
        let seconds = try session.arguments.integer(.reuse, in: ReuseTime.range)
        self.init(
            presence: presence, onFailure: onFailure, reuse: seconds.flatMap(ReuseTime.init))
    }

    /// Refuses `--reuse` unless an entry with the access control `other` then requires a check at
    /// each use.
    func requirePerUse(after other: AccessControl) throws {
        guard reuse != nil, !applied(to: other).presence.isPerUse else { return }
        throw UsageError.needs(Option.reuse.name, with: "\(Option.presence.name) per-use")
    }
}
