internal import SecretVault
package import WatchwordSystem

extension ImportEdit: Transferable {
    package func write(to output: FrameWriter) { output.append(choices, items) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        let choices: DuplicateChoices = try fields.value(bytes)
        self.init(try fields.list(bytes, most: TransferLimits.entries), choices)
    }
}

extension DuplicateChoices: Transferable {
    package func write(to output: FrameWriter) {
        output.append(policy, answers.map(Answer.init).sorted { $0.name.text < $1.name.text })
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self.init(try fields.value(bytes))
        let answers: [Answer] = try fields.list(bytes, most: TransferLimits.entries)
        var last: String?
        for answer in answers {
            // The names are in strictly ascending order, so that none occurs twice.
            guard last.map({ $0 < answer.name.text }) ?? true else { throw Unreadable() }
            choose(answer.policy, for: answer.name)
            last = answer.name.text
        }
    }

    fileprivate struct Answer {
        let name: EntryName
        let policy: DuplicatePolicy
    }
}

extension DuplicateChoices.Answer: Transferable {
    func write(to output: FrameWriter) { output.append(name, policy) }

    init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init, from: bytes)
    }
}

extension DuplicatePolicy: Transferable {}

extension ImportItem: Transferable {
    package func write(to output: FrameWriter) { output.append(content, details, origin) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init, from: bytes)
    }
}

extension ImportItem.Origin: Transferable {
    package func write(to output: FrameWriter) { output.append(accessControl, created) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init, from: bytes)
    }
}

extension ItemOutcome: Transferable {
    /// The first byte, which identifies the outcome.
    enum Kind: UInt8, CaseIterable, Transferable {
        case added, replaced, present, updated, declined, refused
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .added(let name): output.append(Kind.added, name)
        case .replaced(let name): output.append(Kind.replaced, name)
        case .present(let name, let twin, let missing):
            output.append(Kind.present, name, twin, missing)
        case .updated(let name, let twin, let updates, let missing):
            output.append(Kind.updated, name, twin, updates, missing)
        case .declined(let name): output.append(Kind.declined, name)
        case .refused(let refusal): output.append(Kind.refused, refusal)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .added: try fields.make(Self.added, from: bytes)
            case .replaced: try fields.make(Self.replaced, from: bytes)
            case .present: try fields.make(Self.present, from: bytes)
            case .updated: try fields.make(Self.updated, from: bytes)
            case .declined: try fields.make(Self.declined, from: bytes)
            case .refused: try fields.make(Self.refused, from: bytes)
            }
    }
}

extension ImportUpdate: Transferable {
    /// The first byte, which identifies the update.
    enum Kind: UInt8, CaseIterable, Transferable {
        case counter, pin, details
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .counter(let old, let new): output.append(Kind.counter, old, new)
        case .pin: output.append(Kind.pin)
        case .details: output.append(Kind.details)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .counter: try fields.make(Self.counter, from: bytes)
            case .pin: .pin
            case .details: .details
            }
    }
}

extension MissingDetail: Transferable {}

extension ItemRefusal: Transferable {
    /// The first byte, which identifies the refusal.
    enum Kind: UInt8, CaseIterable, Transferable {
        case keyRepeatedTooOften, nameTaken, requiresCheckPerUse, tooLong, notCompared
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .keyRepeatedTooOften: output.append(Kind.keyRepeatedTooOften)
        case .nameTaken(let name): output.append(Kind.nameTaken, name)
        case .requiresCheckPerUse(let name): output.append(Kind.requiresCheckPerUse, name)
        case .tooLong: output.append(Kind.tooLong)
        case .notCompared(let name): output.append(Kind.notCompared, name)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .keyRepeatedTooOften: .keyRepeatedTooOften
            case .nameTaken: try fields.make(Self.nameTaken, from: bytes)
            case .requiresCheckPerUse: try fields.make(Self.requiresCheckPerUse, from: bytes)
            case .tooLong: .tooLong
            case .notCompared: try fields.make(Self.notCompared, from: bytes)
            }
    }
}
