internal import SecretVault
package import WatchwordSystem

extension AgentRequest: Transferable {
    // `lockAll` and `stop` are the same in all versions.
    enum Kind: UInt8, CaseIterable {
        case unlock, lock, lockAll, status, stop, list, code, verify, lockOut, check, answer
        case cancel, edit, confirm, rehearse, prove, contents, open, standing, login, move, find
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .unlock(let place, let opener, let ceiling, let time):
            output.append(choice: Kind.unlock)
            output.append(place)
            output.append(opener)
            output.append(signed: Int64(ceiling))
            output.append(time)
        case .open(let place, let opener, let ceiling):
            output.append(choice: Kind.open)
            output.append(place)
            output.append(opener)
            output.append(signed: Int64(ceiling))
        case .standing(let place, let moment):
            output.append(choice: Kind.standing)
            output.append(place)
            output.append(signed: moment)
        case .lock(let place):
            output.append(choice: Kind.lock)
            output.append(place)
        case .lockAll: output.append(choice: Kind.lockAll)
        case .status: output.append(choice: Kind.status)
        case .stop: output.append(choice: Kind.stop)
        case .list(let place):
            output.append(choice: Kind.list)
            output.append(place)
        case .find(let place, let names, let time):
            output.append(choice: Kind.find)
            output.append(place)
            output.append(list: names)
            output.append(optional: time)
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
        case .move(let move):
            output.append(choice: Kind.move)
            output.append(move)
        case .answer(let answer):
            output.append(choice: Kind.answer)
            output.append(answer)
        case .cancel: output.append(choice: Kind.cancel)
        case .prove(let place, let opener, let ceiling):
            output.append(choice: Kind.prove)
            output.append(place)
            output.append(opener)
            output.append(signed: Int64(ceiling))
        case .login(let place, let task, let presence):
            output.append(choice: Kind.login)
            output.append(place)
            output.append(task)
            output.append(presence)
        case .contents(let place, let ids, let presence, let isUse):
            output.append(choice: Kind.contents)
            output.append(place)
            output.append(list: ids)
            output.append(presence)
            output.append(isUse)
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
        case .open:
            self = .open(
                try fields.value(bytes), try fields.value(bytes),
                ceiling: try AgentRequest.ceiling(&fields, bytes))
        case .standing:
            self = .standing(try fields.value(bytes), since: try fields.signedNumber(bytes))
        case .lock: self = .lock(try fields.value(bytes))
        case .lockAll: self = .lockAll
        case .status: self = .status
        case .stop: self = .stop
        case .list: self = .list(try fields.value(bytes))
        case .find:
            let place: VaultPlace = try fields.value(bytes)
            let names: [String] = try fields.values(bytes, most: AgentRequest.mostNames)
            guard AgentRequest.canFind(names) else { throw FieldReader.Unreadable() }
            self = .find(place, names, try fields.optional(bytes))
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
        case .move: self = .move(try fields.value(bytes))
        case .answer: self = .answer(try fields.value(bytes))
        case .cancel: self = .cancel
        case .prove:
            self = .prove(
                try fields.value(bytes), try fields.value(bytes),
                ceiling: try AgentRequest.ceiling(&fields, bytes))
        case .login:
            self = .login(
                try fields.value(bytes), try fields.value(bytes), try fields.value(bytes))
        case .contents:
            let place: VaultPlace = try fields.value(bytes)
            let ids: [RecordID] = try fields.values(bytes, most: AgentRequest.mostContents)
            guard AgentRequest.canOpen(ids) else { throw FieldReader.Unreadable() }
            self = .contents(
                place, ids, try fields.value(bytes), isUse: try fields.flag(bytes))
        }
    }

    static func ceiling(
        _ fields: inout FieldReader, _ bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) -> Int {
        let ceiling = try fields.signedNumber(bytes)
        guard (10...Int64(Vault.maximumCeiling)).contains(ceiling) else {
            throw FieldReader.Unreadable()
        }
        return Int(ceiling)
    }

    /// Whether a frame that begins with these bytes contains a change of the vault.
    static func isEdit(_ frame: Span<UInt8>) -> Bool {
        let edits = [Kind.edit, .rehearse, .login, .move].map(\.rawValue)
        return frame.count > 1 && edits.contains(frame[1])
    }

    /// Whether it moves a vault.
    package static func isMove(_ frame: Span<UInt8>) -> Bool {
        frame.count > 1 && frame[1] == Kind.move.rawValue
    }

    /// Whether a request of another version may be read: its encoding is the same in all versions.
    static func isUniversal(_ request: Span<UInt8>) -> Bool {
        request.count == 1
            && [Kind.stop.rawValue, Kind.lockAll.rawValue].contains(request[0])
    }
}
