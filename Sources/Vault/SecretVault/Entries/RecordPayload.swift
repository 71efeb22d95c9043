internal import OneTimePassword
internal import WatchwordCryptography
internal import WatchwordSystem

/// The plaintext of a record: the secret, without what the manifest already contains.
enum RecordPayload {
    case totp(key: SecretBytes, parameters: [Credential.Parameter])
    case hotp(counter: UInt64, key: SecretBytes, parameters: [Credential.Parameter])
    case bytes(SecretBytes)
    case uncomputed(secret: SecretBytes, pin: SecretBytes?)

    // A box reveals the length of its content, so contents are padded to a multiple of this.
    private static let step = 64
    static let parameterLimit = 64

    /// The bytes that are equal in two entries with the same secret.
    var identity: SecretBytes {
        switch self {
        case .totp(let key, _), .hotp(_, let key, _): key
        case .bytes(let bytes): bytes
        case .uncomputed(let secret, _): secret
        }
    }

    /// The bytes to seal: a length, the content, and zeros up to the next multiple of the step.
    func sealedForm() throws(VaultError) -> SecretBytes {
        let size = contentSize
        guard size <= VaultLimits.secretSize, parameterCount <= RecordPayload.parameterLimit else {
            throw .overLimit(.secret)
        }
        let steps = (4 + size + RecordPayload.step - 1) / RecordPayload.step
        return SecretBytes(capacity: steps * RecordPayload.step) { output in
            output.append(UInt64(size), bytes: 4)
            write(to: &output)
            while output.freeCapacity > 0 { output.append(0) }
        }
    }

    private var parameterCount: Int {
        switch self {
        case .totp(_, let parameters), .hotp(_, _, let parameters): parameters.count
        case .bytes, .uncomputed: 0
        }
    }

    /// The size of the content without the length before it and the padding after it.
    var contentSize: Int {
        switch self {
        case .totp(let key, let parameters):
            8 + key.count + RecordPayload.size(of: parameters)
        case .hotp(_, let key, let parameters):
            16 + key.count + RecordPayload.size(of: parameters)
        case .bytes(let bytes): bytes.count
        case .uncomputed(let secret, .none): 8 + secret.count
        case .uncomputed(let secret, let pin?): 8 + secret.count + pin.count
        }
    }

    private static func size(of parameters: [Credential.Parameter]) -> Int {
        parameters.reduce(0) { $0 + 8 + $1.name.utf8.count + $1.value.utf8.count }
    }

    /// Writes the content without the length before it and the padding after it.
    func write(to output: inout OutputSpan<UInt8>) {
        switch self {
        case .totp(let key, let parameters):
            RecordPayload.write(key, parameters, to: &output)
        case .hotp(let counter, let key, let parameters):
            output.append(counter, bytes: 8)
            RecordPayload.write(key, parameters, to: &output)
        case .bytes(let bytes):
            bytes.withBytes { output.append(copying: $0) }
        case .uncomputed(let secret, let pin):
            secret.withBytes { output.append(string: $0) }
            // An empty PIN stands for none.
            guard let pin else { return output.append(0, bytes: 4) }
            pin.withBytes { output.append(string: $0) }
        }
    }

    private static func write(
        _ key: SecretBytes, _ parameters: [Credential.Parameter], to output: inout OutputSpan<UInt8>
    ) {
        key.withBytes { output.append(string: $0) }
        output.append(UInt64(parameters.count), bytes: 4)
        for parameter in parameters {
            output.append(string: Array(parameter.name.utf8).span)
            output.append(string: Array(parameter.value.utf8).span)
        }
    }
}

extension RecordPayload {
    /// Parses the result of ``sealedForm()`` for this kind of entry.
    init(reading sealed: SecretBytes, kind: EntryKind) throws(FieldReader.Unreadable) {
        self = try sealed.withBytes { padded throws(FieldReader.Unreadable) in
            var outer = FieldReader(.bigEndian)
            let content = padded.extracting(
                try outer.string(padded, limit: VaultLimits.secretSize))
            guard padded.count % RecordPayload.step == 0,
                padded.count - 4 - content.count < RecordPayload.step
            else {
                throw FieldReader.Unreadable()
            }
            for index in outer.position..<padded.count where padded[index] != 0 {
                throw FieldReader.Unreadable()
            }
            return try RecordPayload(content: content, kind: kind)
        }
    }

    /// Parses the content without the length before it and the padding after it.
    ///
    /// - Parameters:
    ///   - limit: the maximum size of each secret and text in bytes.
    ///   - mostParameters: the maximum number of parameters.
    init(
        content: Span<UInt8>, kind: EntryKind, limit: Int = VaultLimits.secretSize,
        mostParameters: Int = parameterLimit
    ) throws(FieldReader.Unreadable) {
        var fields = FieldReader(.bigEndian)
        switch kind {
        case .totp:
            let (key, parameters) = try RecordPayload.read(
                &fields, content, limit, mostParameters)
            self = .totp(key: key, parameters: parameters)
        case .hotp:
            let counter = try fields.number(content, width: 8)
            let (key, parameters) = try RecordPayload.read(
                &fields, content, limit, mostParameters)
            self = .hotp(counter: counter, key: key, parameters: parameters)
        case .secret, .enrolled:
            self = .bytes(SecretBytes(copying: content))
        case .motp, .yandex:
            let secret = content.extracting(try fields.string(content, limit: limit))
            let pin = content.extracting(try fields.string(content, limit: limit))
            try fields.finish(content)
            self = .uncomputed(
                secret: SecretBytes(copying: secret),
                pin: pin.isEmpty ? nil : SecretBytes(copying: pin))
        }
    }

    private static func read(
        _ fields: inout FieldReader, _ content: Span<UInt8>, _ limit: Int, _ mostParameters: Int
    ) throws(FieldReader.Unreadable) -> (SecretBytes, [Credential.Parameter]) {
        let key = content.extracting(try fields.string(content, limit: limit))
        let count = try fields.number(content, width: 4)
        guard count <= UInt64(mostParameters) else { throw FieldReader.Unreadable() }
        var parameters: [Credential.Parameter] = []
        for _ in 0..<count {
            let name = try fields.text(content, limit: limit)
            let value = try fields.text(content, limit: limit)
            parameters.append(Credential.Parameter(name: name, value: value))
        }
        try fields.finish(content)
        return (SecretBytes(copying: key), parameters)
    }
}
