internal import SecretVault
package import WatchwordSystem

extension AgentRequest: Transferable {
    // `lockAll` and `stop` are the same in all versions.
    enum Kind: UInt8, CaseIterable, Transferable {
        case unlock, lock, lockAll, status, stop, list, code, verify, lockOut, check, answer
        case cancel, edit, confirm, rehearse, prove, contents, open, standing, login, move, find
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .unlock(let place, let opener, let ceiling, let time):
            output.append(Kind.unlock, place, opener, ceiling, time)
        case .open(let place, let opener, let ceiling):
            output.append(Kind.open, place, opener, ceiling)
        case .standing(let place, let moment): output.append(Kind.standing, place, moment)
        case .lock(let place): output.append(Kind.lock, place)
        case .lockAll: output.append(Kind.lockAll)
        case .status: output.append(Kind.status)
        case .stop: output.append(Kind.stop)
        case .list(let place): output.append(Kind.list, place)
        case .find(let place, let names, let time): output.append(Kind.find, place, names, time)
        case .code(let place, let id, let time, let presence):
            output.append(Kind.code, place, id, time, presence)
        case .verify(let place, let id, let comparison, let presence):
            output.append(Kind.verify, place, id, comparison, presence)
        case .lockOut(let place, let id): output.append(Kind.lockOut, place, id)
        case .check(let place): output.append(Kind.check, place)
        case .confirm(let place, let id, let presence):
            output.append(Kind.confirm, place, id, presence)
        case .rehearse(let place, let edit): output.append(Kind.rehearse, place, edit)
        case .edit(let place, let edit, let presence):
            output.append(Kind.edit, place, edit, presence)
        case .move(let move): output.append(Kind.move, move)
        case .answer(let answer): output.append(Kind.answer, answer)
        case .cancel: output.append(Kind.cancel)
        case .prove(let place, let opener, let ceiling):
            output.append(Kind.prove, place, opener, ceiling)
        case .login(let place, let task, let presence):
            output.append(Kind.login, place, task, presence)
        case .contents(let place, let ids, let presence, let isUse):
            output.append(Kind.contents, place, ids, presence, isUse)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .unlock: try fields.make(Self.unlock, from: bytes)
            case .open: try fields.make(Self.open, from: bytes)
            case .standing: try fields.make(Self.standing, from: bytes)
            case .lock: try fields.make(Self.lock, from: bytes)
            case .lockAll: .lockAll
            case .status: .status
            case .stop: .stop
            case .list: try fields.make(Self.list, from: bytes)
            case .find:
                .find(
                    try fields.value(bytes), try fields.list(bytes, most: AgentRequest.mostNames),
                    try fields.value(bytes))
            case .code: try fields.make(Self.code, from: bytes)
            case .verify: try fields.make(Self.verify, from: bytes)
            case .lockOut: try fields.make(Self.lockOut, from: bytes)
            case .check: try fields.make(Self.check, from: bytes)
            case .confirm: try fields.make(Self.confirm, from: bytes)
            case .rehearse: try fields.make(Self.rehearse, from: bytes)
            case .edit: try fields.make(Self.edit, from: bytes)
            case .move: try fields.make(Self.move, from: bytes)
            case .answer: try fields.make(Self.answer, from: bytes)
            case .cancel: .cancel
            case .prove: try fields.make(Self.prove, from: bytes)
            case .login: try fields.make(Self.login, from: bytes)
            case .contents:
                .contents(
                    try fields.value(bytes),
                    try fields.list(bytes, most: AgentRequest.mostContents),
                    try fields.value(bytes), isUse: try fields.value(bytes))
            }
        guard isWithinLimits else { throw Unreadable() }
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
