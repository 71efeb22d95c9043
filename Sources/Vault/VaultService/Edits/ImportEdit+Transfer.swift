internal import SecretVault
package import WatchwordSystem

extension ImportEdit: Transferable {
    package func write(to output: FrameWriter) {
        output.append(choices)
        output.append(list: items)
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let choices: DuplicateChoices = try fields.value(bytes)
        self.init(try fields.values(bytes, most: TransferLimits.entries), choices)
    }
}

extension DuplicateChoices: Transferable {
    package func write(to output: FrameWriter) {
        output.append(position: policy)
        output.append(list: answers.map(Answer.init).sorted { $0.name.text < $1.name.text })
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        self.init(try fields.choiceByPosition(bytes))
        let answers: [Answer] = try fields.values(bytes, most: TransferLimits.entries)
        var last: String?
        for answer in answers {
            // The names are in strictly ascending order, so that none occurs twice.
            guard last.map({ $0 < answer.name.text }) ?? true else {
                throw FieldReader.Unreadable()
            }
            choose(answer.policy, for: answer.name)
            last = answer.name.text
        }
    }

    private struct Answer: Transferable {
        let name: EntryName
        let policy: DuplicatePolicy

        init(name: EntryName, policy: DuplicatePolicy) {
            self.name = name
            self.policy = policy
        }

        func write(to output: FrameWriter) {
            output.append(name)
            output.append(position: policy)
        }

        init(
            reading fields: inout FieldReader, in bytes: Span<UInt8>
        ) throws(FieldReader.Unreadable) {
            self.init(
                name: try fields.value(bytes), policy: try fields.choiceByPosition(bytes))
        }
    }
}

extension ImportItem: Transferable {
    package func write(to output: FrameWriter) {
        output.append(content)
        output.append(details)
        output.append(optional: origin)
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        self.init(
            try fields.value(bytes), details: try fields.value(bytes),
            origin: try fields.optional(bytes))
    }
}

extension ImportItem.Origin: Transferable {
    package func write(to output: FrameWriter) {
        output.append(accessControl)
        output.append(signed: created)
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        self.init(
            accessControl: try fields.value(bytes), created: try fields.signedNumber(bytes))
    }
}

extension ItemOutcome: Transferable {
    /// The first byte, which identifies the outcome.
    enum Kind: UInt8, CaseIterable {
        case added, replaced, present, updated, declined, refused
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .added(let name):
            output.append(choice: Kind.added)
            output.append(name)
        case .replaced(let name):
            output.append(choice: Kind.replaced)
            output.append(name)
        case .present(let name, let twin, let missing):
            output.append(choice: Kind.present)
            output.append(name)
            output.append(twin)
            output.append(list: missing)
        case .updated(let name, let twin, let updates, let missing):
            output.append(choice: Kind.updated)
            output.append(name)
            output.append(twin)
            output.append(list: updates)
            output.append(list: missing)
        case .declined(let name):
            output.append(choice: Kind.declined)
            output.append(name)
        case .refused(let refusal):
            output.append(choice: Kind.refused)
            output.append(refusal)
        }
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let kind: Kind = try fields.choice(bytes)
        switch kind {
        case .added: self = .added(try fields.value(bytes))
        case .replaced: self = .replaced(try fields.value(bytes))
        case .present:
            self = .present(
                try fields.value(bytes), as: try fields.value(bytes),
                missing: try fields.values(bytes))
        case .updated:
            self = .updated(
                try fields.value(bytes), as: try fields.value(bytes), try fields.values(bytes),
                missing: try fields.values(bytes))
        case .declined: self = .declined(try fields.value(bytes))
        case .refused: self = .refused(try fields.value(bytes))
        }
    }
}

extension ImportUpdate: Transferable {
    /// The first byte, which identifies the update.
    enum Kind: UInt8, CaseIterable {
        case counter, pin, details
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .counter(let old, let new):
            output.append(choice: Kind.counter)
            output.append(old)
            output.append(new)
        case .pin: output.append(choice: Kind.pin)
        case .details: output.append(choice: Kind.details)
        }
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let kind: Kind = try fields.choice(bytes)
        switch kind {
        case .counter:
            self = .counter(from: try fields.value(bytes), to: try fields.value(bytes))
        case .pin: self = .pin
        case .details: self = .details
        }
    }
}

extension MissingDetail: Transferable {
    package func write(to output: FrameWriter) { output.append(choice: self) }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        self = try fields.choice(bytes)
    }
}

extension ItemRefusal: Transferable {
    /// The first byte, which identifies the refusal.
    enum Kind: UInt8, CaseIterable {
        case keyRepeatedTooOften, nameTaken, requiresCheckPerUse, tooLong, notCompared
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .keyRepeatedTooOften: output.append(choice: Kind.keyRepeatedTooOften)
        case .nameTaken(let name):
            output.append(choice: Kind.nameTaken)
            output.append(name)
        case .requiresCheckPerUse(let name):
            output.append(choice: Kind.requiresCheckPerUse)
            output.append(name)
        case .tooLong: output.append(choice: Kind.tooLong)
        case .notCompared(let name):
            output.append(choice: Kind.notCompared)
            output.append(name)
        }
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let kind: Kind = try fields.choice(bytes)
        switch kind {
        case .keyRepeatedTooOften: self = .keyRepeatedTooOften
        case .nameTaken: self = .nameTaken(try fields.value(bytes))
        case .requiresCheckPerUse: self = .requiresCheckPerUse(try fields.value(bytes))
        case .tooLong: self = .tooLong
        case .notCompared: self = .notCompared(try fields.value(bytes))
        }
    }
}
