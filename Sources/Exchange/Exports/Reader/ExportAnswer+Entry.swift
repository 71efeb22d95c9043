package import OneTimePassword
internal import WatchwordCoding
internal import WatchwordCryptography
package import WatchwordSystem

extension ExportedEntry: Transferable {
    package func write(to output: FrameWriter) {
        output.append(
            content, Array(tags.prefix(ExportProtocol.mostTags)), note, icon, isFavourite, state,
            Array(warnings.prefix(ExportProtocol.mostWarnings)), UInt32(clamping: line ?? 0),
            lastUsedStep)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self.init(
            content: try fields.value(bytes),
            tags: try fields.list(bytes, most: ExportProtocol.mostTags),
            note: try fields.value(bytes), icon: try fields.value(bytes),
            isFavourite: try fields.value(bytes), state: try fields.value(bytes),
            warnings: try fields.list(bytes, most: ExportProtocol.mostWarnings),
            line: try fields.line(bytes), lastUsedStep: try fields.value(bytes))
    }
}

extension ExportedEntry.State: Transferable {}

extension ExportedEntry.Content: Transferable {
    private enum Kind: UInt8, Transferable {
        case oneTimePassword, notComputed
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .oneTimePassword(let credential): output.append(Kind.oneTimePassword, credential)
        case .notComputed(let code): output.append(Kind.notComputed, code)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        switch try fields.value(bytes) as Kind {
        case .oneTimePassword: self = .oneTimePassword(try fields.value(bytes))
        case .notComputed: self = .notComputed(try fields.value(bytes))
        }
    }
}

extension Credential: Transferable {
    package func write(to output: FrameWriter) {
        output.append(issuer, account, key, algorithm, style, movingFactor, otherParameters)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        do {
            try self.init(
                issuer: try fields.value(bytes), account: try fields.value(bytes),
                key: try fields.value(bytes), algorithm: try fields.value(bytes),
                style: try fields.value(bytes), movingFactor: try fields.value(bytes),
                otherParameters: try fields.value(bytes))
        } catch {
            throw Unreadable()
        }
    }
}

extension Credential.Parameter: Transferable {
    package func write(to output: FrameWriter) { output.append(name, value) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init(name:value:), from: bytes)
    }
}

// The number of digits; 0 stands for Steam Guard's alphabet.
extension CodeStyle: Transferable {
    package func write(to output: FrameWriter) {
        switch self {
        case .decimal(let length): output.append(UInt8(clamping: length.digits))
        case .steam: output.append(0 as UInt8)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        let digits = Int(try fields.byte(bytes))
        guard digits > 0 else {
            self = .steam
            return
        }
        guard let length = CodeLength(digits: digits) else { throw Unreadable() }
        self = .decimal(length)
    }
}

extension MovingFactor: Transferable {
    private enum Kind: UInt8, Transferable {
        case time, counter
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .time(let step): output.append(Kind.time, step.period, step.start)
        case .counter(let counter): output.append(Kind.counter, counter)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        switch try fields.value(bytes) as Kind {
        case .time: self = .time(try fields.make(TimeStep.init(period:start:), from: bytes))
        case .counter: self = .counter(try fields.value(bytes))
        }
    }
}

extension UncomputedCode: Transferable {
    package func write(to output: FrameWriter) {
        output.append(kind, issuer, account, secret, pin)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init(kind:issuer:account:secret:pin:), from: bytes)
        guard secret.count > 0 else { throw Unreadable() }
    }
}

extension UncomputedCode.Kind: Transferable {}
