package import Cryptography
package import POSIX
package import SecretVault

/// What a client asks the agent to do.
package enum AgentRequest: Sendable {
    /// Opens a vault and holds its key; answered with its listing.
    case unlock(VaultPlace, VaultOpener, ceiling: Int, HoldingTime)
    /// Forgets the key of a vault.
    case lock(VaultPlace)
    /// Forgets all keys.
    case lockAll
    /// Says which vaults are held; no timer is reset.
    case status
    /// Ends the agent.
    case stop
    /// Lists the entries; no timer is reset.
    case list(VaultPlace)
    /// Computes a code.
    case code(VaultPlace, RecordID, CodeTime, AgentPresence)
    /// Compares a code.
    case verify(VaultPlace, RecordID, CodeComparison, AgentPresence)
    /// The failures that are counted against an entry.
    case lockOut(VaultPlace, RecordID)
    /// Opens every record.
    case check(VaultPlace)
    /// Changes the vault in one save.
    case edit(VaultPlace, VaultEdit, AgentPresence)
    /// Proves presence for an entry that the next edit on this connection changes.
    case confirm(VaultPlace, RecordID, AgentPresence)
    /// The outcome of an edit that is not saved, as if every presence check had succeeded.
    case rehearse(VaultPlace, VaultEdit)
    /// Answers a module's question; only after ``AgentResponse/asks(_:isEchoed:)``.
    case answer(SecretBytes)
    /// Cancels the check; only after ``AgentResponse/asks(_:isEchoed:)``.
    case cancel
}

/// The time of a code.
package enum CodeTime: Hashable, Sendable {
    /// The code of a time-based entry, `offset` steps after this time in Unix seconds.
    ///
    /// A program that refreshes the codes that it shows does not reset the idle time.
    case moment(Int64, offset: UInt64, isRefresh: Bool)
    /// The next code of a counter-based entry, whose counter is saved first.
    case counter

    /// Whether a program refreshes a code that it shows, without a request from the user.
    package var isRefresh: Bool {
        if case .moment(_, _, let isRefresh) = self { isRefresh } else { false }
    }
}

/// A code that somebody presents, and the window in which it is accepted.
package struct CodeComparison: Sendable {
    package let code: String
    /// The time of a time-based code in Unix seconds; `nil` compares with the entry's counter.
    package let moment: Int64?
    package let behind: Int
    package let ahead: Int

    package init(code: String, moment: Int64?, behind: Int, ahead: Int) {
        self.code = code
        self.moment = moment
        self.behind = behind
        self.ahead = ahead
    }

    /// The widest window.
    package static let widest = 10_000
}

/// How presence is proved for an entry that requires it at each use.
package enum AgentPresence: Sendable {
    /// Not at all: unlocking was enough, or an earlier check on this connection is.
    case none
    /// With the passphrase or the recovery key.
    case opener(VaultOpener)
    /// With the system's modules, which show this purpose.
    case modules(String)
}

extension AgentRequest: Transferable {
    // `lockAll` and `stop` are the same in all versions.
    private enum Kind: UInt8 {
        case unlock, lock, lockAll, status, stop, list, code, verify, lockOut, check, answer
        case cancel, edit, confirm, rehearse
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .unlock(let place, let opener, let ceiling, let time):
            output.append(choice: Kind.unlock)
            output.append(place)
            output.append(opener)
            output.append(signed: Int64(ceiling))
            output.append(time)
        case .lock(let place):
            output.append(choice: Kind.lock)
            output.append(place)
        case .lockAll: output.append(choice: Kind.lockAll)
        case .status: output.append(choice: Kind.status)
        case .stop: output.append(choice: Kind.stop)
        case .list(let place):
            output.append(choice: Kind.list)
            output.append(place)
        case .code(let place, let id, let time, let presence):
            output.append(choice: Kind.code)
            output.append(place)
            output.append(id)
            output.append(time)
            output.append(presence)
        case .verify(let place, let id, let comparison, let presence):
            output.append(choice: Kind.verify)
            output.append(place)
            output.append(id)
            output.append(comparison)
            output.append(presence)
        case .lockOut(let place, let id):
            output.append(choice: Kind.lockOut)
            output.append(place)
            output.append(id)
        case .check(let place):
            output.append(choice: Kind.check)
            output.append(place)
        case .confirm(let place, let id, let presence):
            output.append(choice: Kind.confirm)
            output.append(place)
            output.append(id)
            output.append(presence)
        case .rehearse(let place, let edit):
            output.append(choice: Kind.rehearse)
            output.append(place)
            output.append(edit)
        case .edit(let place, let edit, let presence):
            output.append(choice: Kind.edit)
            output.append(place)
            output.append(edit)
            output.append(presence)
        case .answer(let answer):
            output.append(choice: Kind.answer)
            output.append(answer)
        case .cancel: output.append(choice: Kind.cancel)
        }
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let kind: Kind = try fields.choice(bytes)
        switch kind {
        case .unlock:
            self = .unlock(
                try fields.value(bytes), try fields.value(bytes),
                ceiling: try AgentRequest.ceiling(&fields, bytes), try fields.value(bytes))
        case .lock: self = .lock(try fields.value(bytes))
        case .lockAll: self = .lockAll
        case .status: self = .status
        case .stop: self = .stop
        case .list: self = .list(try fields.value(bytes))
        case .code:
            self = .code(
                try fields.value(bytes), try fields.value(bytes), try fields.value(bytes),
                try fields.value(bytes))
        case .verify:
            self = .verify(
                try fields.value(bytes), try fields.value(bytes), try fields.value(bytes),
                try fields.value(bytes))
        case .lockOut: self = .lockOut(try fields.value(bytes), try fields.value(bytes))
        case .check: self = .check(try fields.value(bytes))
        case .confirm:
            self = .confirm(
                try fields.value(bytes), try fields.value(bytes), try fields.value(bytes))
        case .rehearse: self = .rehearse(try fields.value(bytes), try fields.value(bytes))
        case .edit:
            self = .edit(
                try fields.value(bytes), try fields.value(bytes), try fields.value(bytes))
        case .answer: self = .answer(try fields.value(bytes))
        case .cancel: self = .cancel
        }
    }

    private static func ceiling(
        _ fields: inout FieldReader, _ bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) -> Int {
        let ceiling = try fields.signedNumber(bytes)
        guard (10...Int64(Vault.maximumCeiling)).contains(ceiling) else {
            throw FieldReader.Unreadable()
        }
        return Int(ceiling)
    }

    /// Whether a request of another version may be read: its encoding is the same in all versions.
    static func isUniversal(_ request: Span<UInt8>) -> Bool {
        request.count == 1
            && [Kind.stop.rawValue, Kind.lockAll.rawValue].contains(request[0])
    }
}

extension AgentRequest {
    /// Whether answering it needs neither a key derivation nor a person, nor waits for another
    /// process.
    var isQuick: Bool {
        switch self {
        case .lock, .lockAll, .status, .stop, .list, .lockOut: true
        default: false
        }
    }
}

extension CodeTime: Transferable {
    private enum Kind: UInt8 {
        case moment, refresh, counter
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .moment(let moment, let offset, let isRefresh):
            output.append(choice: isRefresh ? Kind.refresh : Kind.moment)
            output.append(signed: moment)
            output.append(offset)
        case .counter: output.append(choice: Kind.counter)
        }
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let kind: Kind = try fields.choice(bytes)
        switch kind {
        case .moment, .refresh:
            self = .moment(
                try fields.signedNumber(bytes), offset: try fields.value(bytes),
                isRefresh: kind == .refresh)
        case .counter: self = .counter
        }
    }
}

extension CodeComparison: Transferable {
    package func write(to output: FrameWriter) {
        output.append(code)
        output.append(moment != nil)
        if let moment { output.append(signed: moment) }
        output.append(UInt64(behind))
        output.append(UInt64(ahead))
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let code: String = try fields.value(bytes)
        let moment = try fields.flag(bytes) ? try fields.signedNumber(bytes) : nil
        let (behind, ahead) = (try fields.integer(bytes), try fields.integer(bytes))
        guard (0...CodeComparison.widest).contains(behind),
            (0...CodeComparison.widest).contains(ahead)
        else { throw FieldReader.Unreadable() }
        self.init(code: code, moment: moment, behind: behind, ahead: ahead)
    }
}

extension AgentPresence: Transferable {
    private enum Kind: UInt8 {
        case none, opener, modules
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .none: output.append(choice: Kind.none)
        case .opener(let opener):
            output.append(choice: Kind.opener)
            output.append(opener)
        case .modules(let purpose):
            output.append(choice: Kind.modules)
            output.append(purpose)
        }
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let kind: Kind = try fields.choice(bytes)
        switch kind {
        case .none: self = .none
        case .opener: self = .opener(try fields.value(bytes))
        case .modules: self = .modules(try fields.value(bytes))
        }
    }
}
