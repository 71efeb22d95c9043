internal import OneTimePassword
internal import WatchwordCryptography
internal import WatchwordSystem

// An entry: its content, the tags, the note, the icon's name, the favourite mark (1 byte), the state
// (1 byte), the line (4 bytes), the warnings, and the last used step (8 bytes, after 1 byte that says
// whether it is known). The content begins with 1 byte: 0 for a one-time password, 1 for a code that
// is not computed. Texts and secrets are preceded by their counts.

private enum ContentCode: UInt8 {
    case oneTimePassword, notComputed
}

extension AnswerWriter {
    mutating func append(_ entry: ExportedEntry) {
        switch entry.content {
        case .oneTimePassword(let credential):
            append(ContentCode.oneTimePassword.rawValue)
            append(credential)
        case .notComputed(let code):
            append(ContentCode.notComputed.rawValue)
            append(code)
        }
        let tags = entry.tags.prefix(ExportProtocol.mostTags)
        append(count: tags.count)
        for tag in tags { append(tag) }
        append(entry.note)
        append(entry.icon)
        append(entry.isFavourite)
        append(entry.state.rawValue)
        append(count: entry.line ?? 0)
        let warnings = entry.warnings.prefix(ExportProtocol.mostWarnings)
        append(count: warnings.count)
        for warning in warnings { append(warning) }
        append(entry.lastUsedStep != nil)
        if let step = entry.lastUsedStep { append(step, width: 8) }
    }

    private mutating func append(_ credential: Credential) {
        append(credential.issuer)
        append(credential.account)
        append(credential.key)
        append(choice: credential.algorithm)
        switch credential.style {
        case .decimal(let length): append(UInt8(clamping: length.digits))
        case .steam: append(0 as UInt8)
        }
        switch credential.movingFactor {
        case .time(let step):
            append(false)
            append(UInt64(bitPattern: step.period), width: 8)
            append(UInt64(bitPattern: step.start), width: 8)
        case .counter(let counter):
            append(true)
            append(counter, width: 8)
        }
        append(count: credential.otherParameters.count)
        for parameter in credential.otherParameters {
            append(parameter.name)
            append(parameter.value)
        }
    }

    private mutating func append(_ code: UncomputedCode) {
        append(code.kind.rawValue)
        append(code.issuer)
        append(code.account)
        append(code.secret)
        append(code.pin != nil)
        if let pin = code.pin { append(pin) }
    }
}

extension FieldReader {
    mutating func exportedEntry(_ bytes: Span<UInt8>) throws(Unreadable) -> ExportedEntry {
        let contentCode: ContentCode = try choice(bytes)
        let content: ExportedEntry.Content =
            switch contentCode {
            case .oneTimePassword: .oneTimePassword(try credential(bytes))
            case .notComputed: .notComputed(try uncomputedCode(bytes))
            }
        let tags = try list(bytes, most: ExportProtocol.mostTags) {
            (fields, bytes) throws(Unreadable) in try fields.text(bytes)
        }
        let note = try text(bytes)
        let icon = try text(bytes)
        let isFavourite = try flag(bytes)
        let state: ExportedEntry.State = try choice(bytes)
        let line = try line(bytes)
        let warnings = try list(bytes, most: ExportProtocol.mostWarnings) {
            (fields, bytes) throws(Unreadable) in try fields.exportWarning(bytes)
        }
        let lastUsedStep = try flag(bytes) ? try number(bytes, width: 8) : nil
        return ExportedEntry(
            content: content, tags: tags, note: note, icon: icon, isFavourite: isFavourite,
            state: state, warnings: warnings, line: line, lastUsedStep: lastUsedStep)
    }

    private mutating func credential(_ bytes: Span<UInt8>) throws(Unreadable) -> Credential {
        let issuer = try text(bytes)
        let account = try text(bytes)
        let key = try secret(bytes, limit: ExportProtocol.longestText)
        let algorithm: HashAlgorithm = try choiceByPosition(bytes)
        let style = try codeStyle(bytes)
        let movingFactor = try movingFactor(bytes)
        let parameters = try list(bytes, most: ExportProtocol.longestText) {
            (fields, bytes) throws(Unreadable) in
            let name = try fields.text(bytes)
            return Credential.Parameter(name: name, value: try fields.text(bytes))
        }
        do {
            return try Credential(
                issuer: issuer, account: account, key: key, algorithm: algorithm, style: style,
                movingFactor: movingFactor, otherParameters: parameters)
        } catch {
            throw Unreadable()
        }
    }

    private mutating func codeStyle(_ bytes: Span<UInt8>) throws(Unreadable) -> CodeStyle {
        let digits = Int(try byte(bytes))
        guard digits > 0 else { return .steam }
        do { return .decimal(try CodeLength(digits: digits)) } catch { throw Unreadable() }
    }

    private mutating func movingFactor(_ bytes: Span<UInt8>) throws(Unreadable) -> MovingFactor {
        guard try !flag(bytes) else { return .counter(try number(bytes, width: 8)) }
        let period = try signedNumber(bytes)
        let start = try signedNumber(bytes)
        do { return .time(try TimeStep(period: period, start: start)) } catch {
            throw Unreadable()
        }
    }

    private mutating func uncomputedCode(
        _ bytes: Span<UInt8>
    ) throws(Unreadable) -> UncomputedCode {
        let kind: UncomputedCode.Kind = try choice(bytes)
        let issuer = try text(bytes)
        let account = try text(bytes)
        let secret = try secret(bytes, limit: ExportProtocol.longestText)
        guard secret.count > 0 else { throw Unreadable() }
        let pin =
            try flag(bytes) ? try self.secret(bytes, limit: ExportProtocol.longestText) : nil
        return UncomputedCode(
            kind: kind, issuer: issuer, account: account, secret: secret, pin: pin)
    }
}
