import ExportReading
@testable import Exports
import WatchwordCryptography
@testable import WatchwordSystem

/// Reads the bytes as another app's export, whatever format they have.
///
/// What is read must arrive unchanged in the process that holds the vault's keys.
func fuzzExport(_ bytes: [UInt8], prefix: [UInt8] = []) {
    _ = isPrepared
    let source = ExportSource(
        SecretBytes(copying: (bytes.starts(with: prefix) ? bytes : prefix + bytes).span),
        name: "1.maFile", manifest: manifest, keyFile: keyFile)
    for password in [nil, password] {
        let answer: ExportAnswer
        do {
            answer = .export(try readExport(source, password: password, limits: cheap))
        } catch {
            // Refusing the input is correct.
            answer = .refused(error)
        }
        do {
            let frame = try answer.frame()
            frame.withContent { fuzzExportAnswer([UInt8](copying: $0), isSound: true) }
        } catch {
            preconditionFailure("no memory for a frame")
        }
    }
}

/// Parses the bytes as a reader's answer, beside the vault's keys; an accepted answer must be the
/// only encoding of its content.
///
/// - Parameter isSound: whether the bytes are an answer that we wrote.
func fuzzExportAnswer(_ bytes: [UInt8], isSound: Bool = false) {
    let isRead = expectOneForm(ExportAnswer.self, bytes)
    precondition(isRead || !isSound, "an answer that we wrote was rejected")
}

/// Reads the bytes as a gzip member.
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
