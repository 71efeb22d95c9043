internal import OneTimePassword
package import WatchwordCryptography
internal import WatchwordSystem

/// The plaintext of a record: the secret, without the properties that the manifest contains.
enum RecordPayload {
    case totp(key: SecretBytes, parameters: [Credential.Parameter])
    case hotp(counter: UInt64, key: SecretBytes, parameters: [Credential.Parameter])
    case bytes(SecretBytes)
    case uncomputed(secret: SecretBytes, pin: SecretBytes?)
    /// A bound secret, in its inner box.
    case closed(ClosedSecret)

    // A box reveals the length of its content, so contents are padded to a multiple of this.
    static let step = 64
    static let parameterLimit = 64

    /// The bytes from which the fingerprint is computed; two entries with the same secret have the
    /// same bytes.
    var identity: SecretBytes {
        switch self {
        case .totp(let key, _), .hotp(_, let key, _): key
        case .bytes(let bytes): bytes
        case .uncomputed(let secret, _): secret
        // A closed secret has no such bytes here: the manifest lists its fingerprint.
        case .closed(let closed): closed.box
        }
    }

    /// The fingerprint of the secret, computed with `key`.
    func fingerprint(under key: SecretBytes) -> [UInt8] {
        let print = identity.withBytes { hmac(.sha256, key: key, message: $0) }
        return Array(print.prefix(ListedSecret.fingerprintCount))
    }

    /// The state that the manifest lists for a bound record with this content: the counter, or the
    /// progress of the enrolled secret; otherwise 0.
    func state(of kind: EntryKind) -> UInt64 {
        switch self {
        case .hotp(let counter, _, _): counter
        case .bytes(let form) where kind == .enrolled: EnrolledState.number(of: form)
        case .totp, .bytes, .uncomputed: 0
        case .closed(let closed): closed.binding.state
        }
    }

    /// The bytes to seal: a length, the content, and zeros up to the next multiple of the step.
    func sealedForm() throws(VaultError) -> SecretBytes {
        let size = contentSize
        guard size <= sizeLimit, parameterCount <= RecordPayload.parameterLimit else {
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
        case .bytes, .uncomputed, .closed: 0
        }
    }

    private var sizeLimit: Int {
        if case .closed = self { RecordPayload.boundSize } else { VaultLimits.secretSize }
    }

    /// The maximum size of an inner box.
    private static let boundSize =
        SealingKey.overhead + (4 + VaultLimits.secretSize + step - 1) / step * step

    /// The size of the content without the length before it and the padding after it.
    var contentSize: Int {
        switch self {
        case .totp(let key, let parameters):
            8 + key.count + RecordPayload.size(of: parameters)
        case .hotp(_, let key, let parameters):
            16 + key.count + RecordPayload.size(of: parameters)
        case .bytes(let bytes): bytes.count
        case .closed(let closed): closed.box.count
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
        case .closed(let closed):
            closed.box.withBytes { output.append(copying: $0) }
        case .uncomputed(let secret, let pin):
            secret.withBytes { output.append(string: $0) }
            // An empty text stands for no PIN.
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
            let content = try RecordPayload.content(of: padded, limit: VaultLimits.secretSize)
            return try RecordPayload(content: padded.extracting(content), kind: kind)
        }
    }

    /// The inner box in the result of ``sealedForm()``.
    static func innerBox(in sealed: SecretBytes) throws(FieldReader.Unreadable) -> SecretBytes {
        try sealed.withBytes { padded throws(FieldReader.Unreadable) in
            SecretBytes(copying: padded.extracting(try content(of: padded, limit: boundSize)))
        }
    }

    /// The range of the content between the length and the padding.
    private static func content(
        of padded: Span<UInt8>, limit: Int
    ) throws(FieldReader.Unreadable) -> Range<Int> {
        var outer = FieldReader(.bigEndian)
        let content = try outer.string(padded, limit: limit)
        guard padded.count % step == 0, padded.count - 4 - content.count < step else {
            throw FieldReader.Unreadable()
        }
        for index in outer.position..<padded.count where padded[index] != 0 {
            throw FieldReader.Unreadable()
        }
        return content
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

/// The stored forms of enrolled entries, as VaultFile.md defines them.
package enum EnrolledState {
    /// The progress of a stored form, as a number that grows with each step; 0 if the form cannot
    /// be read.
    ///
    /// For a secret: twice the generation of its newest one, plus 1 if that secret was presented. A
    /// device key counts as newer than the secrets that it replaces.
    package static func number(of form: SecretBytes) -> UInt64 {
        ifPossible(
            try form.withBytes { bytes throws(FieldReader.Unreadable) in
                try number(in: bytes)
            }) ?? 0
    }

    private static func number(in bytes: Span<UInt8>) throws(FieldReader.Unreadable) -> UInt64 {
        var fields = FieldReader(.bigEndian)
        let version = try fields.byte(bytes)
        // The address and the authorities.
        for _ in 0..<2 { _ = try fields.string(bytes, limit: .max) }
        let credential = try fields.string(bytes, limit: .max)
        guard version == 1 else {
            guard version == 2 else { throw FieldReader.Unreadable() }
            return (1 << 63) + (credential.isEmpty ? 0 : 1)
        }
        _ = try fields.number(bytes, width: 8)
        let generation = try fields.number(bytes, width: 8)
        guard generation < (1 << 62) - 1 else { throw FieldReader.Unreadable() }
        // Two secrets, each with the nonce with which it was presented.
        var number: UInt64 = 0
        for index in 0..<2 {
            let secret = try fields.string(bytes, limit: .max)
            let nonce = try fields.string(bytes, limit: .max)
            guard index == 0 || !secret.isEmpty else { break }
            number = 2 * (generation + UInt64(index)) + (nonce.isEmpty ? 0 : 1)
        }
        return number
    }
}
