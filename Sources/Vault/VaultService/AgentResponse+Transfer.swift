package import WatchwordSystem

extension AgentResponse: Transferable {
    enum Kind: UInt8, CaseIterable, Transferable {
        case done, notHeld, locked, outOfReach, listing, code, match, lockOut, check
        case status, failed, refused, noVerdict, noCode, says, asks, misunderstood, otherVersion
        case tooManyClients, edited, contents, moving, standing, login, parcel, found, asksPIN
        case notLocked
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .done: output.append(Kind.done)
        case .notHeld: output.append(Kind.notHeld)
        case .locked(let reason): output.append(Kind.locked, reason)
        case .outOfReach: output.append(Kind.outOfReach)
        case .notLocked: output.append(Kind.notLocked)
        case .moving: output.append(Kind.moving)
        case .standing(let standing): output.append(Kind.standing, standing)
        case .parcel(let parcel): output.append(Kind.parcel, parcel)
        case .listing(let listing): output.append(Kind.listing, listing)
        case .found(let listing, let code): output.append(Kind.found, listing, code)
        case .code(let code): output.append(Kind.code, code)
        case .match(let offset): output.append(Kind.match, offset)
        case .lockOut(let lockOut): output.append(Kind.lockOut, lockOut)
        case .check(let check): output.append(Kind.check, check)
        case .status(let status): output.append(Kind.status, status)
        case .edited(let outcome, let reports): output.append(Kind.edited, outcome, reports)
        case .failed(let error): output.append(Kind.failed, error)
        case .refused(let cost): output.append(Kind.refused, cost)
        case .noVerdict(let failure): output.append(Kind.noVerdict, failure)
        case .noCode: output.append(Kind.noCode)
        case .login(let answer, let reports): output.append(Kind.login, answer, reports)
        case .contents(let contents): output.append(Kind.contents, contents)
        case .says(let text): output.append(Kind.says, text)
        case .asks(let text, let isEchoed): output.append(Kind.asks, text, isEchoed)
        case .asksPIN(let isRepeated, let left): output.append(Kind.asksPIN, isRepeated, left)
        case .misunderstood: output.append(Kind.misunderstood)
        case .otherVersion: output.append(Kind.otherVersion)
        case .tooManyClients: output.append(Kind.tooManyClients)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .done: .done
            case .notHeld: .notHeld
            case .locked: try fields.make(Self.locked, from: bytes)
            case .outOfReach: .outOfReach
            case .notLocked: .notLocked
            case .moving: .moving
            case .standing: try fields.make(Self.standing, from: bytes)
            case .parcel: try fields.make(Self.parcel, from: bytes)
            case .listing: try fields.make(Self.listing, from: bytes)
            case .found: try fields.make(Self.found, from: bytes)
            case .code: try fields.make(Self.code, from: bytes)
            case .match: try fields.make(Self.match, from: bytes)
            case .lockOut: try fields.make(Self.lockOut, from: bytes)
            case .check: try fields.make(Self.check, from: bytes)
            case .status: try fields.make(Self.status, from: bytes)
            case .edited: try fields.make(Self.edited, from: bytes)
            case .failed: try fields.make(Self.failed, from: bytes)
            case .refused: try fields.make(Self.refused, from: bytes)
            case .noVerdict: try fields.make(Self.noVerdict, from: bytes)
            case .noCode: .noCode
            case .login: try fields.make(Self.login, from: bytes)
            case .contents: try fields.make(Self.contents, from: bytes)
            case .says: try fields.make(Self.says, from: bytes)
            case .asks: try fields.make(Self.asks, from: bytes)
            case .asksPIN: try fields.make(Self.asksPIN, from: bytes)
            case .misunderstood: .misunderstood
            case .otherVersion: .otherVersion
            case .tooManyClients: .tooManyClients
            }
    }
}

extension VaultStanding: Transferable {
    package func write(to output: FrameWriter) {
        output.append(slots, status, isHeld, isMoving, identity)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init, from: bytes)
    }
}

extension VaultListing: Transferable {
    package func write(to output: FrameWriter) {
        output.append(generation, entries, slots, reports, uses)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init, from: bytes)
    }
}

extension VaultListing.EntryUse: Transferable {
    package func write(to output: FrameWriter) { output.append(id, time) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init, from: bytes)
    }
}

extension IssuedCode: Transferable {
    package func write(to output: FrameWriter) { output.append(text, counter) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init, from: bytes)
    }
}

extension AgentStatus: Transferable {
    package func write(to output: FrameWriter) {
        output.append(process, limitsFiles, locksKeys, folders, vaults)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init, from: bytes)
    }
}

extension AgentStatus.Vault: Transferable {
    package func write(to output: FrameWriter) { output.append(path, idle, total) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init, from: bytes)
    }
}

extension LockReason: Transferable {}
