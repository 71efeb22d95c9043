internal import Devices
internal import SecretVault
package import WatchwordSystem

extension AgentResponse: Transferable {
    enum Kind: UInt8, CaseIterable {
        case done, notHeld, locked, outOfReach, listing, code, match, noMatch, lockOut, check
        case status, failed, refused, noVerdict, noCode, says, asks, misunderstood, otherVersion
        case tooManyClients, edited, contents, moving, standing, login, parcel, found, asksPIN
        case notLocked
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .done: output.append(choice: Kind.done)
        case .notHeld: output.append(choice: Kind.notHeld)
        case .locked(let reason):
            output.append(choice: Kind.locked)
            output.append(choice: reason)
        case .outOfReach: output.append(choice: Kind.outOfReach)
        case .notLocked: output.append(choice: Kind.notLocked)
        case .moving: output.append(choice: Kind.moving)
        case .standing(let standing):
            output.append(choice: Kind.standing)
            output.append(standing)
        case .parcel(let parcel):
            output.append(choice: Kind.parcel)
            output.append(parcel)
        case .listing(let listing):
            output.append(choice: Kind.listing)
            output.append(listing)
        case .found(let listing, let code):
            output.append(choice: Kind.found)
            output.append(listing)
            output.append(code)
        case .code(let code):
            output.append(choice: Kind.code)
            output.append(code)
        case .match(let offset?):
            output.append(choice: Kind.match)
            output.append(signed: Int64(offset))
        case .match(nil): output.append(choice: Kind.noMatch)
        case .lockOut(let lockOut):
            output.append(choice: Kind.lockOut)
            output.append(lockOut)
        case .check(let check):
            output.append(choice: Kind.check)
            output.append(check)
        case .status(let status):
            output.append(choice: Kind.status)
            output.append(status)
        case .edited(let outcome, let reports):
            output.append(choice: Kind.edited)
            output.append(outcome)
            output.append(list: reports)
        case .failed(let error):
            output.append(choice: Kind.failed)
            output.append(error)
        case .refused(let cost):
            output.append(choice: Kind.refused)
            output.append(cost)
        case .noVerdict(let failure):
            output.append(choice: Kind.noVerdict)
            output.append(failure)
        case .noCode: output.append(choice: Kind.noCode)
        case .login(let answer, let reports):
            output.append(choice: Kind.login)
            output.append(answer)
            output.append(list: reports)
        case .contents(let contents):
            output.append(choice: Kind.contents)
            output.append(list: contents)
        case .says(let text):
            output.append(choice: Kind.says)
            output.append(text)
        case .asks(let text, let isEchoed):
            output.append(choice: Kind.asks)
            output.append(text)
            output.append(isEchoed)
        case .asksPIN(let isRepeated, let left):
            output.append(choice: Kind.asksPIN)
            output.append(isRepeated)
            output.append(optional: left)
        case .misunderstood: output.append(choice: Kind.misunderstood)
        case .otherVersion: output.append(choice: Kind.otherVersion)
        case .tooManyClients: output.append(choice: Kind.tooManyClients)
        }
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let kind: Kind = try fields.choice(bytes)
        switch kind {
        case .done: self = .done
        case .notHeld: self = .notHeld
        case .locked: self = .locked(try fields.choice(bytes))
        case .outOfReach: self = .outOfReach
        case .notLocked: self = .notLocked
        case .moving: self = .moving
        case .standing: self = .standing(try fields.value(bytes))
        case .parcel: self = .parcel(try fields.value(bytes))
        case .listing: self = .listing(try fields.value(bytes))
        case .found: self = .found(try fields.value(bytes), try fields.value(bytes))
        case .code: self = .code(try fields.value(bytes))
        case .match: self = .match(try fields.integer(bytes))
        case .noMatch: self = .match(nil)
        case .lockOut: self = .lockOut(try fields.value(bytes))
        case .check: self = .check(try fields.value(bytes))
        case .status: self = .status(try fields.value(bytes))
        case .edited: self = .edited(try fields.value(bytes), try fields.values(bytes))
        case .failed: self = .failed(try fields.value(bytes))
        case .refused: self = .refused(try fields.value(bytes))
        case .noVerdict: self = .noVerdict(try fields.value(bytes))
        case .noCode: self = .noCode
        case .login: self = .login(try fields.value(bytes), try fields.values(bytes))
        case .contents: self = .contents(try fields.values(bytes))
        case .says: self = .says(try fields.value(bytes))
        case .asks: self = .asks(try fields.value(bytes), isEchoed: try fields.flag(bytes))
        case .asksPIN:
            self = .asksPIN(
                isRepeated: try fields.flag(bytes), left: try fields.optional(bytes))
        case .misunderstood: self = .misunderstood
        case .otherVersion: self = .otherVersion
        case .tooManyClients: self = .tooManyClients
        }
    }
}

extension VaultStanding: Transferable {
    package func write(to output: FrameWriter) {
        output.append(list: slots)
        output.append(status)
        output.append(isHeld)
        output.append(isMoving)
        output.append(identity)
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        self.init(
            slots: try fields.values(bytes), status: try fields.value(bytes),
            isHeld: try fields.flag(bytes), isMoving: try fields.flag(bytes),
            identity: try fields.value(bytes))
    }
}

extension VaultListing: Transferable {
    package func write(to output: FrameWriter) {
        output.append(generation)
        output.append(list: entries)
        output.append(list: slots)
        output.append(list: reports)
        output.append(list: uses)
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        self.init(
            generation: try fields.value(bytes), entries: try fields.values(bytes),
            slots: try fields.values(bytes), reports: try fields.values(bytes),
            uses: try fields.values(bytes))
    }
}

extension VaultListing.EntryUse: Transferable {
    package func write(to output: FrameWriter) {
        output.append(id)
        output.append(signed: time)
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        self.init(id: try fields.value(bytes), time: try fields.signedNumber(bytes))
    }
}

extension IssuedCode: Transferable {
    package func write(to output: FrameWriter) {
        output.append(text)
        output.append(optional: counter)
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        self.init(text: try fields.value(bytes), counter: try fields.optional(bytes))
    }
}

extension AgentStatus: Transferable {
    package func write(to output: FrameWriter) {
        output.append(signed: Int64(process))
        output.append(limitsFiles)
        output.append(locksKeys)
        output.append(list: folders)
        output.append(list: vaults)
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        guard let process = Int32(exactly: try fields.integer(bytes)) else {
            throw FieldReader.Unreadable()
        }
        self.init(
            process: process, limitsFiles: try fields.flag(bytes),
            locksKeys: try fields.flag(bytes), folders: try fields.values(bytes),
            vaults: try fields.values(bytes))
    }
}

extension AgentStatus.Vault: Transferable {
    package func write(to output: FrameWriter) {
        output.append(path)
        output.append(signed: idle.wholeSeconds)
        output.append(signed: total.wholeSeconds)
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        self.init(
            path: try fields.value(bytes), idle: .seconds(try fields.signedNumber(bytes)),
            total: .seconds(try fields.signedNumber(bytes)))
    }
}
