import ExportReading
import Exports
import WatchwordCryptography

/// Reads the bytes as another app's export, whatever format they have.
///
/// What is read must arrive unchanged in the process that holds the vault's keys.
func fuzzExport(_ bytes: [UInt8], prefix: [UInt8] = []) {
    _ = isPrepared
    let source = ExportSource(
        SecretBytes(copying: (bytes.starts(with: prefix) ? bytes : prefix + bytes).span),
        name: "1.maFile", manifest: manifest, keyFile: keyFile)
    for password in [nil, password] {
        do {
            let export = try readExport(source, password: password, limits: cheap)
            let sent = ExportAnswer.bytes(for: export)
            guard case .export(let received)? = ExportAnswer(parsing: sent.span) else {
                preconditionFailure("an answer that we wrote was rejected")
            }
            precondition(ExportAnswer.bytes(for: received) == sent, "an answer round-trips")
            precondition(received.entries.count == export.entries.count, "no entry is lost")
        } catch {
            // Refusing the input is correct.
            let sent = ExportAnswer.bytes(for: error)
            guard case .refused(error)? = ExportAnswer(parsing: sent.span) else {
                preconditionFailure("an error that we wrote was rejected")
            }
        }
    }
}

/// Parses the bytes as a reader's answer, beside the vault's keys; an accepted answer must be the
/// only encoding of its content.
func fuzzExportAnswer(_ bytes: [UInt8]) {
    switch ExportAnswer(parsing: bytes.span) {
    case .export(let export)?:
        precondition(ExportAnswer.bytes(for: export) == bytes, "an answer has only one form")
    case .refused(let error)?:
        precondition(ExportAnswer.bytes(for: error) == bytes, "an error has only one form")
    case nil: break
    }
}

/// Decompresses the bytes.
func fuzzGzip(_ bytes: [UInt8]) {
    do {
        let content = try gunzip(bytes.span, limit: 1 << 20)
        precondition(content.count <= 1 << 20, "the limit holds")
    } catch {
        // Refusing the input is correct.
    }
}

private let isPrepared = prepareExportReading()
private let password = SecretBytes(copying: Array("pw".utf8).span)
private let keyFile = SecretBytes(copying: [UInt8](repeating: 7, count: 32).span)
private let manifest = SecretBytes(
    copying: Array(
        """
        {"entries":[{"filename":"1.maFile","steamid":1,"encryption_salt":"3NeJQ02JBoU=",
        "encryption_iv":"0Z9lp0UtVGfHkFT5VrLvHQ=="}]}
        """.utf8
    ).span)
/// The standard limits, except for key derivations that would take most of the time.
private let cheap: ExportLimits = {
    var limits = ExportLimits.standard
    limits.bytes = 1 << 20
    limits.values = 10_000
    limits.iterations = 1_000
    limits.rounds = 10_000
    limits.memory = 1 << 20
    limits.scryptWork = 4 << 20
    limits.argon2Work = 4 << 20
    return limits
}()
