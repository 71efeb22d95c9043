internal import Exports
internal import OneTimePassword
internal import WatchwordCoding
internal import WatchwordCryptography

/// Lists of key URIs and of Google Authenticator's migration URIs,
/// and what `pass show` prints (4.29).
enum URIListFormat {
    /// Reads lines.
    ///
    /// - Parameter format: The format, if it is known from elsewhere.
    static func read(
        _ text: SecretBytes, format: ExportFormat? = nil
    ) throws(ExportError) -> ExportRows {
        var reader = URIListReader()
        try text.withBytes { text throws(ExportError) in
            var lines = TextLines(text)
            while let line = lines.next(in: text) {
                let content = text.extracting(line.range)
                guard content[0] != UInt8(ascii: "#") else { continue }
                // If the list is part of another app's file, the user may be unable to see its
                // lines.
                reader.line = format == nil ? line.number : nil
                try reader.take(line: content)
            }
        }
        return reader.finished(format)
    }

    /// Reads the key URI that follows a password in the output of `pass show`.
    ///
    /// The other lines belong to the password manager's item.
    static func readItem(_ text: SecretBytes) throws(ExportError) -> ExportRows {
        var reader = URIListReader()
        try text.withBytes { text throws(ExportError) in
            var lines = TextLines(text)
            while let line = lines.next(in: text) {
                let content = text.extracting(line.range)
                reader.line = line.number
                if content.hasPrefixIgnoringCase("otpauth://") { try reader.take(line: content) }
            }
        }
        return reader.finished(.uriList)
    }

    /// Reads a list in JSON: `items` of texts, or of objects with `rawData`.
    static func read(_ document: JSONValue) throws(ExportError) -> ExportRows {
        guard let items = document["items"]?.elements else { throw .damaged(.uriList) }
        var reader = URIListReader()
        for item in items {
            guard let text = item.secretText ?? item["rawData"]?.secretText else {
                try reader.refuse(.malformed)
                continue
            }
            try text.withBytes { text throws(ExportError) in
                try reader.take(uri: text.extracting(text.rangeWithoutSpaces))
            }
        }
        return reader.finished(nil)
    }
}

/// Collects the entries of URIs.
private struct URIListReader {
    private var rows = ExportRows(.uriList)
    private var migrations = MigrationCollection()
    private var hasKeyURI = false
    private var isFromEnte = false
    private var isFromWinAuth = false
    /// The line of the next URI; `nil` if there are no lines.
    var line: Int?

    /// Reads a line, which may contain several URIs separated by commas: Ente's oldest lists.
    mutating func take(line: Span<UInt8>) throws(ExportError) {
        let separator = ",otpauth://"
        var start = 0
        while let found = line.extracting(start...).firstRange(of: separator) {
            try take(uri: line.extracting(start..<start + found.lowerBound))
            start += found.lowerBound + 1
        }
        try take(uri: line.extracting(start...))
    }

    mutating func take(uri: Span<UInt8>) throws(ExportError) {
        guard !MigrationBatch.isMigrationURI(uri) else { return try take(migration: uri) }
        hasKeyURI = true
        isFromEnte = isFromEnte || uri.firstRange(of: "codedisplay=") != nil
        isFromWinAuth =
            isFromWinAuth || uri.firstRange(of: "&icon=") != nil
            || uri.firstRange(of: "&deviceid=") != nil || uri.firstRange(of: "&serial=") != nil
        var row = ExportRow()
        row.line = line
        row.secret = .field(SecretBytes(copying: uri))
        // A list contains URIs only; anything else is not a secret.
        if uri.firstRange(of: "://") == nil { row.refusal = .badKeyURI }
        try rows.append(row)
    }

    mutating func refuse(_ reason: ExportRowRefusal) throws(ExportError) {
        var row = ExportRow()
        row.line = line
        row.refusal = reason
        try rows.append(row)
    }

    private mutating func take(migration: Span<UInt8>) throws(ExportError) {
        let batch: MigrationBatch
        do { batch = try MigrationBatch(parsing: migration) } catch {
            return try refuse(.badKeyURI)
        }
        guard migrations.add(batch) != .repeated else { return }
        var refusals: [Int: ExportRowRefusal] = [:]
        for refusal in batch.refusals { refusals[refusal.entry] = refusal.reason.exportReason }
        var credentials = batch.credentials[...]
        for entry in 0..<(batch.credentials.count + batch.refusals.count) {
            if let reason = refusals[entry] {
                try refuse(reason)
            } else if let credential = credentials.popFirst() {
                var row = ExportRow(migrated: credential)
                row.line = line
                try rows.append(row)
            }
        }
    }

    consuming func finished(_ format: ExportFormat?) -> ExportRows {
        rows.missingPictures = migrations.sets.flatMap(\.missing).map { $0 + 1 }
        rows.format =
            format ?? (isFromEnte ? .ente : isFromWinAuth ? .winAuth : nil)
            ?? (hasKeyURI ? .uriList : .googleAuthenticator)
        return rows
    }
}

extension MigrationRefusal.Reason {
    fileprivate var exportReason: ExportRowRefusal {
        switch self {
        case .missingKey: .noSecret
        case .unknownAlgorithm: .unknownAlgorithm
        case .unknownDigits: .badDigits
        case .unknownType: .unknownType
        case .counterOutOfRange: .badCounter
        case .tooLong: .tooLong
        }
    }
}

extension ExportRow {
    /// The row of a migration's entry.
    fileprivate init(migrated credential: Credential) {
        issuer = credential.issuer
        account = credential.account
        secret = .bytes(credential.key)
        algorithm = credential.algorithm.rawValue
        digits = .value(Int64(credential.style.length))
        switch credential.movingFactor {
        case .time(let step): period = .value(step.period)
        case .counter(let value):
            kind = .hotp
            counter = .large(value)
            // Google Authenticator increments the counter before it computes a code; which value it
            // exports is unclear.
            warnings = [.counterOfLastCode]
        }
    }
}

/// Ente's encrypted JSON, which contains a list of key URIs.
enum EnteFormat {
    static func read(
        _ document: JSONValue, password: SecretBytes?
    ) throws(ExportError) -> ExportRows {
        guard let password else { throw .passwordNeeded(.ente) }
        return try URIListFormat.read(
            try EnteContainer.open(document, password: password), format: .ente)
    }
}

/// Ente's export, encrypted with a password.
enum EnteContainer {
    /// Returns the list of key URIs.
    static func open(
        _ document: JSONValue, password: SecretBytes
    ) throws(ExportError) -> SecretBytes {
        let file = ContainerFields(document, .ente)
        guard try file.number("version") == 1 else { throw .newerVersion(.ente) }
        let costs = try file.fields("kdfParams")
        let salt = try costs.base64("salt", count: 16)
        let message = try file.base64("encryptedData")
        let header = try file.base64("encryptionNonce", count: 24)
        let decryption = Decryption(.ente)
        let argon2 = Argon2(
            .id, kibibytes: try costs.number("memLimit") / 1024,
            passes: try costs.number("opsLimit"), lanes: 1)
        let key = try decryption.derive(argon2, password, salt: salt)
        return try decryption.open(message, key: key, nonce: header, with: openSecretStream)
    }
}
