@testable import Exports
import OneTimePassword
import TestSupport
import Testing
import WatchwordCryptography
import WatchwordSystem

@Suite struct ExportAnswerTests {
    private static let errors: [ExportError] =
        [
            .unknownFormat, .passwordNeeded(nil), .notJSON, .outOfMemory,
            .overLimit(.keePass, .iterations, found: 1 << 40, allowed: 1 << 28),
            .overLimit(nil, .fileSize, found: .max, allowed: 0),
        ] + ExportFormat.allCases.map(ExportError.damaged)
        + ExportObstacle.allCases.map { .unreadable(nil, $0) }
        + ExportLimit.allCases.map { .overLimit(.aegis, $0, found: 2, allowed: 1) }
        + [
            .passwordNeeded(.andOTP), .wrongPassword(.ente), .wrongPassword(nil),
            .newerVersion(.aegis), .noEntries(.keePass),
            .unreadable(.bitwarden, .accountRestricted),
        ]

    private static let warnings: [ExportWarning] =
        [
            .incompleteSecret, .steamParameters, .counterOfLastCode,
            .credential(.shortKey(bits: 80)), .credential(.digits(9)),
            .credential(.longPeriod(seconds: .max)), .keyURI(.appleScheme),
            .keyURI(.spacesAroundURI), .keyURI(.spacesAround(.issuer)),
            .keyURI(.rawSpace(.account)),
            .keyURI(.rawNonASCII(.label)), .keyURI(.readAsLatin1(.parameter(7))),
            .keyURI(.rawHash(.scheme)), .keyURI(.rawPercent(.type)), .keyURI(.plusAsSpace(.secret)),
            .keyURI(.plusKept(.algorithm)), .keyURI(.emptyLabel), .keyURI(.emptyIssuer),
            .keyURI(.severalColons), .keyURI(.issuersDiffer), .keyURI(.parameterName(.digits)),
            .keyURI(.emptyValue(.period)), .keyURI(.emptyParameter), .keyURI(.algorithmSpelling),
            .keyURI(.missingCounter), .keyURI(.steamByIssuer), .keyURI(.steamByEncoder),
            .keyURI(.otherType(.counter)), .keyURI(.unknownParameter(.start)),
            .keyURI(.rawHash(.encoder)),
        ] + Base32Deviation.allCases.map { .keyURI(.key($0)) }

    private static func export() throws -> Export {
        let key = SecretBytes(copying: [1, 2, 3].span)
        let plain = try Credential(issuer: "Acme", account: "ann 😀", key: key)
        let counted = try Credential(
            issuer: "", account: "", key: key, algorithm: .sha512, style: .steam,
            movingFactor: .counter(.max),
            otherParameters: [Credential.Parameter(name: "image", value: "")])
        let shifted = try Credential(
            issuer: "X", account: "y", key: key, algorithm: .sha256,
            style: .decimal(#require(CodeLength(digits: 10))),
            movingFactor: .time(#require(TimeStep(period: .max, start: .min))))
        let alias = try #require(KeyURIParameterAlias("amp;digits"))
        var deleted = ExportedEntry(
            content: .oneTimePassword(plain), tags: ["a", ""], note: "n\n", icon: "i",
            isFavourite: true)
        deleted.state = .deleted
        deleted.warnings = warnings + [.keyURI(.misnamedParameter(name: alias))]
        var archived = ExportedEntry(content: .oneTimePassword(counted))
        archived.state = .archived
        var used = ExportedEntry(content: .oneTimePassword(shifted))
        used.line = 7
        used.lastUsedStep = .max
        var export = Export(
            format: .winAuth,
            entries: [
                deleted, archived, used,
                ExportedEntry(
                    content: .notComputed(
                        UncomputedCode(
                            kind: .yandex, issuer: "Y", account: "z", secret: key,
                            pin: SecretBytes(copying: [9].span)))),
                ExportedEntry(
                    content: .notComputed(
                        UncomputedCode(
                            kind: .motp, issuer: "", account: "", secret: key, pin: nil))),
            ],
            refusals: ExportRowRefusal.allCases.enumerated().map { index, reason in
                ExportRefusal(
                    row: index + 1, line: index == 0 ? nil : index, issuer: "i\(index)",
                    account: "a", reason: reason)
            }, iconCount: 3)
        export.missingPictures = [2, 5]
        export.emergencyCodeCount = 4
        return export
    }

    @Test("an encoded export is decoded unchanged")
    func roundTrip() throws {
        let export = try Self.export()
        guard case .export(let decoded) = try Self.sent(.export(export)) else {
            Issue.record("the answer was rejected")
            return
        }
        #expect(decoded.format == export.format)
        #expect(decoded.iconCount == 3)
        #expect(decoded.missingPictures == [2, 5])
        #expect(decoded.emergencyCodeCount == 4)
        #expect(decoded.refusals == export.refusals)
        for (entry, expected) in zip(decoded.entries, export.entries) {
            #expect(entry.tags == expected.tags)
            #expect(entry.note == expected.note)
            #expect(entry.icon == expected.icon)
            #expect(entry.isFavourite == expected.isFavourite)
            #expect(entry.state == expected.state)
            #expect(entry.warnings == expected.warnings)
            #expect(entry.line == expected.line)
            #expect(entry.lastUsedStep == expected.lastUsedStep)
            switch (entry.content, expected.content) {
            case (.oneTimePassword(let one), .oneTimePassword(let other)): #expect(one == other)
            case (.notComputed(let one), .notComputed(let other)):
                #expect(one.kind == other.kind)
                #expect(one.secret == other.secret)
                #expect(one.pin.map(\.count) == other.pin.map(\.count))
            default: Issue.record("the kind of content changed")
            }
        }
    }

    @Test("an answer decodes unchanged, and other bytes are refused")
    func form() throws {
        try MessageForm.check(ExportAnswer.export(Self.export()))
        for warning in Self.warnings { try MessageForm.check(warning) }
        for error in Self.errors {
            try MessageForm.check(error)
            try MessageForm.check(ExportAnswer.refused(error))
        }
    }

    @Test("an export that is too large for an answer is refused with its size")
    func tooLarge() throws {
        let key = SecretBytes(copying: [1].span)
        let entry = ExportedEntry(
            content: .oneTimePassword(try Credential(issuer: "", account: "", key: key)),
            note: String(repeating: "n", count: 1 << 20))
        let export = Export(
            format: .keePass, entries: Array(repeating: entry, count: 64), refusals: [],
            iconCount: 0)
        guard
            case .refused(.overLimit(.keePass, .documentSize, _, allowed: 64 << 20)) =
                try Self.sent(
                    .export(export))
        else {
            Issue.record("the export was sent")
            return
        }
    }

    /// The part of an answer that arrives.
    private static func sent(_ answer: ExportAnswer) throws -> ExportAnswer {
        try answer.frame().withContent { bytes in try ExportAnswer(parsing: bytes) }
    }
}
