import OneTimePassword
import TestSupport
import Testing
import WatchwordCryptography

/// The key in all URIs here, unless stated otherwise: “12345678901234567890” in Base32.
private let key = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
private let keyBytes = "3132333435363738393031323334353637383930"

/// A URI that deviates from the format, what it means, and the warning that is reported.
struct Leniency: Sendable, CustomTestStringConvertible {
    let uri: String
    let issuer: String
    let account: String
    let warnings: [KeyURIWarning]

    init(_ uri: String, _ issuer: String, _ account: String, _ warnings: KeyURIWarning...) {
        self.uri = uri
        self.issuer = issuer
        self.account = account
        self.warnings = warnings
    }

    var testDescription: String { "\(warnings)" }
}

extension KeyURI {
    init(_ text: String, reading: Reading = .lenient) throws(OneTimePasswordError) {
        let bytes = Array(text.utf8)
        try self.init(parsing: bytes.span, reading: reading)
    }
}

@Suite("Key URIs")
struct KeyURITests {
    private static let leniencies: [Leniency] = [
        Leniency("apple-otpauth://totp/A:b?secret=\(key)&issuer=A", "A", "b", .appleScheme),
        Leniency(" otpauth://totp/A:b?secret=\(key)&issuer=A\n", "A", "b", .spacesAroundURI),
        Leniency("otpauth://totp/A%20:b?secret=\(key)", "A", "b", .spacesAround(.issuer)),
        Leniency("otpauth://totp/A:b%20?secret=\(key)", "A", "b", .spacesAround(.account)),
        Leniency("otpauth://totp/A:b%C2%A0?secret=\(key)", "A", "b", .spacesAround(.account)),
        Leniency("otpauth://totp/A%E3%80%80:b?secret=\(key)", "A", "b", .spacesAround(.issuer)),
        Leniency("otpauth://totp/A B:c?secret=\(key)", "A B", "c", .rawSpace(.issuer)),
        Leniency("otpauth://totp/A:b c?secret=\(key)", "A", "b c", .rawSpace(.account)),
        Leniency(
            "otpauth://totp/A%20B:c?secret=\(key)&issuer=A B", "A B", "c", .rawSpace(.issuer)),
        Leniency("otpauth://totp/Büro:b?secret=\(key)", "Büro", "b", .rawNonASCII(.issuer)),
        Leniency("otpauth://totp/A:%FC?secret=\(key)", "A", "ü", .readAsLatin1(.account)),
        Leniency("otpauth://totp/A:b#1?secret=\(key)", "A", "b#1", .rawHash(.account)),
        Leniency("otpauth://totp/A:100%?secret=\(key)", "A", "100%", .rawPercent(.account)),
        Leniency("otpauth://totp/A:%zz?secret=\(key)", "A", "%zz", .rawPercent(.account)),
        Leniency("otpauth://totp/b?secret=\(key)&issuer=A+B", "A B", "b", .plusAsSpace(.issuer)),
        Leniency("otpauth://totp/A+B:b?secret=\(key)&issuer=A+B", "A+B", "b", .plusKept(.issuer)),
        Leniency("otpauth://totp/?secret=\(key)&issuer=A", "A", "", .emptyLabel),
        Leniency("otpauth://totp?secret=\(key)&issuer=A", "A", "", .emptyLabel),
        Leniency("otpauth://totp/:b?secret=\(key)", "", "b", .emptyIssuer),
        Leniency("otpauth://totp/A:b?secret=\(key)&issuer=", "A", "b", .emptyIssuer),
        Leniency("otpauth://totp/A:b:c?secret=\(key)", "A", "b:c", .severalColons),
        Leniency("otpauth://totp/A:b?secret=\(key)&issuer=C", "C", "b", .issuersDiffer),
        Leniency("otpauth://totp/A:b?Secret=\(key)", "A", "b", .parameterName(.secret)),
        Leniency("otpauth://totp/A:b?secret=\(key)&digits=", "A", "b", .emptyValue(.digits)),
        Leniency("otpauth://totp/A:b?secret=\(key)&", "A", "b", .emptyParameter),
        Leniency("otpauth://totp/A:b?secret=\(key)&&digits=6", "A", "b", .emptyParameter),
        Leniency(
            "otpauth://totp/A:b?secret=\(key.lowercased())", "A", "b", .key(.lowerCase)),
        Leniency("otpauth://totp/A:b?secret=\(key)%3D", "A", "b", .key(.padding)),
        Leniency("otpauth://totp/A:b?secret=\(key)==", "A", "b", .key(.padding)),
        Leniency(
            "otpauth://totp/A:b?secret=GEZD%20\(key.dropFirst(4))", "A", "b", .key(.spaces)),
        Leniency(
            "otpauth://totp/A:b?secret=GEZD+\(key.dropFirst(4))", "A", "b",
            .plusAsSpace(.secret), .key(.spaces)),
        Leniency("otpauth://totp/A:b?secret=GEZD-\(key.dropFirst(4))", "A", "b", .key(.dashes)),
        Leniency("otpauth://totp/A:b?secret=\(key)B", "A", "b", .key(.strayCharacter)),
        Leniency("otpauth://totp/A:b?secret=\(key)&algorithm=SHA-1", "A", "b", .algorithmSpelling),
        Leniency("otpauth://totp/A:b?secret=\(key)&algorithm=sha1", "A", "b", .algorithmSpelling),
        Leniency("otpauth://hotp/A:b?secret=\(key)", "A", "b", .missingCounter),
        Leniency("otpauth://totp/Steam:b?secret=\(key)", "Steam", "b", .steamByIssuer),
        Leniency("otpauth://totp/A:b?secret=\(key)&encoder=steam", "A", "b", .steamByEncoder),
        Leniency("otpauth://totp/A:b?secret=\(key)&counter=1", "A", "b", .otherType(.counter)),
        Leniency(
            "otpauth://hotp/A:b?secret=\(key)&counter=1&period=30", "A", "b", .otherType(.period)),
        Leniency(
            "otpauth://totp/A:b?secret=\(key)&x=1+2", "A", "b", .plusAsSpace(.parameter(2)),
            .unknownParameter(.parameter(2))),
    ]

    @Test(
        "each deviation from the format is accepted and reported by lenient parsing",
        arguments: leniencies)
    func lenient(case leniency: Leniency) throws {
        let uri = try KeyURI(leniency.uri)
        #expect(uri.credential.issuer == leniency.issuer)
        #expect(uri.credential.account == leniency.account)
        #expect(uri.credential.key.hex == keyBytes)
        #expect(uri.warnings == leniency.warnings)
    }

    @Test("each deviation from the format is refused by strict parsing", arguments: leniencies)
    func strict(case leniency: Leniency) throws {
        let first = try #require(leniency.warnings.first)
        #expect(throws: OneTimePasswordError.notStrict(first)) {
            _ = try KeyURI(leniency.uri, reading: .strict)
        }
    }

    @Test(
        "URIs that the format allows pass strict parsing",
        arguments: [
            ("otpauth://totp/A:b?secret=\(key)&issuer=A", "A", "b"),
            ("OTPAUTH://TOTP/A:b?secret=\(key)", "A", "b"),
            ("otpauth://totp/A%3Ab?secret=\(key)&issuer=A", "A", "b"),
            ("otpauth://totp/A%3ab?secret=\(key)", "A", "b"),
            ("otpauth://totp/A:%20b?secret=\(key)", "A", "b"),
            ("otpauth://totp/b?secret=\(key)", "", "b"),
            ("otpauth://totp/b+tag@example.com?secret=\(key)", "", "b+tag@example.com"),
            ("otpauth://totp/B%C3%BCro:b?secret=\(key)&issuer=B%C3%BCro", "Büro", "b"),
            ("otpauth://totp/a/b?secret=\(key)", "", "a/b"),
            ("otpauth://totp/:a%3Ab?secret=\(key)", "", "a:b"),
            ("otpauth://totp/a%3Ab:c?secret=\(key)", "a:b", "c"),
        ])
    func allowed(uri: String, issuer: String, account: String) throws {
        let read = try KeyURI(uri, reading: .strict)
        #expect(read.warnings.isEmpty)
        #expect(read.credential.issuer == issuer)
        #expect(read.credential.account == account)
    }

    @Test("a Latin-1 label is accepted by lenient parsing and refused by strict parsing")
    func latin1() throws {
        let bytes = Array("otpauth://totp/Caf".utf8) + [0xe9] + Array("?secret=\(key)".utf8)
        let uri = try KeyURI(parsing: bytes.span)
        #expect(uri.credential.account == "Café")
        #expect(uri.warnings == [.rawNonASCII(.account), .readAsLatin1(.account)])
    }

    @Test(
        "algorithms are recognised in their usual spellings",
        arguments: [
            ("SHA1", HashAlgorithm.sha1), ("SHA256", .sha256), ("SHA512", .sha512),
            ("SHA-1", .sha1), ("sha256", .sha256), ("HmacSHA512", .sha512),
            ("HMAC-SHA-256", .sha256),
            ("SHA_512", .sha512), ("hmac_sha1", .sha1), ("SHA%20256", .sha256),
        ])
    func algorithm(name: String, algorithm: HashAlgorithm) throws {
        let uri = try KeyURI("otpauth://totp/A:b?secret=\(key)&algorithm=\(name)")
        #expect(uri.credential.algorithm == algorithm)
        #expect(uri.warnings.isEmpty == (name == algorithm.rawValue))
    }

    @Test("digits, period, start time and counter are read")
    func numbers() throws {
        let uri = try KeyURI(
            "otpauth://totp/A:b?secret=\(key)&digits=8&period=60&t0=-30", reading: .strict)
        #expect(uri.credential.style == .decimal(.eight))
        #expect(
            uri.credential.movingFactor == .time(try #require(TimeStep(period: 60, start: -30))))
        let counted = try KeyURI(
            "otpauth://hotp/A:b?secret=\(key)&counter=18446744073709551615", reading: .strict)
        #expect(counted.credential.movingFactor == .counter(.max))
    }

    @Test(
        "Steam Guard is recognised, and other five-digit codes are not",
        arguments: [
            ("otpauth://steam/A:b?secret=\(key)", true),
            ("otpauth://steam/A:b?secret=\(key)&digits=5&algorithm=SHA1&period=30", true),
            ("otpauth://totp/Steam:b?secret=\(key)&issuer=Steam", true),
            ("otpauth://totp/STEAM:b?secret=\(key)&digits=5", true),
            ("otpauth://totp/A:b?secret=\(key)&encoder=steam&digits=5", true),
            ("otpauth://hotp/A:b?secret=\(key)&encoder=steam&counter=1", true),
            ("otpauth://totp/Steam:b?secret=\(key)&digits=6", false),
            ("otpauth://totp/Steam:b?secret=\(key)&digits=5&encoder=decimal", false),
            ("otpauth://totp/A:b?secret=\(key)&digits=5", false),
        ])
    func steam(uri: String, isSteam: Bool) throws {
        #expect((try KeyURI(uri).credential.style == .steam) == isSteam)
    }

    @Test(
        "a wrong name for a known parameter is reported, since codes may be wrong",
        arguments: [
            ("amp;digits", KeyURIPart.digits), ("amp;period", .period), ("step", .period),
            ("Interval", .period), ("algo", .algorithm),
        ])
    func misnomers(name: String, part: KeyURIPart) throws {
        let text = "otpauth://totp/A:b?secret=\(key)&\(name)=8"
        let uri = try KeyURI(text)
        guard case .misnamedParameter(let misnomer) = uri.warnings.first else {
            Issue.record("no warning")
            return
        }
        #expect(uri.warnings.count == 1)
        #expect(misnomer.name == name.lowercased())
        #expect(misnomer.part == part)
        #expect(uri.credential.otherParameters == [.init(name: name, value: "8")])
        #expect(throws: OneTimePasswordError.notStrict(.misnamedParameter(name: misnomer))) {
            _ = try KeyURI(text, reading: .strict)
        }
    }

    @Test("display parameters of other programs cause no warning")
    func decorations() throws {
        let uri = "otpauth://totp/A:b?secret=\(key)&image=x&Icon=y&color=z"
        #expect(try KeyURI(uri, reading: .strict).warnings.isEmpty)
    }

    @Test("unknown parameters are kept and written back")
    func unknownParameters() throws {
        let text = "otpauth://totp/A:b?secret=\(key)&image=http%3A%2F%2Fx%2Fy.png&flag&z=%26"
        let uri = try KeyURI(text)
        #expect(
            uri.warnings == [.unknownParameter(.parameter(3)), .unknownParameter(.parameter(4))])
        let expected: [Credential.Parameter] = [
            .init(name: "image", value: "http://x/y.png"), .init(name: "flag", value: ""),
            .init(name: "z", value: "&"),
        ]
        #expect(uri.credential.otherParameters == expected)
        let written = KeyURI.format(uri.credential)
        let end = "&period=30&image=http%3A%2F%2Fx%2Fy.png&flag=&z=%26"
        #expect(written.text.hasSuffix(end))
    }

    @Test(
        "an invalid URI is refused",
        arguments: [
            ("", OneTimePasswordError.notAKeyURI), ("otpauth:", .notAKeyURI),
            ("otpauth:/totp/b", .notAKeyURI),
            ("https://totp/b?secret=\(key)", .notAKeyURI), ("xotpauth://totp/b", .notAKeyURI),
            ("otpauth://", .unknownType), ("otpauth://motp/b?secret=\(key)", .unknownType),
            ("otpauth:///b?secret=\(key)", .unknownType),
            ("otpauth://totp /b?secret=\(key)", .unknownType),
            ("otpauth://totp/b", .emptyKey), ("otpauth://totp/b?", .emptyKey),
            ("otpauth://totp/b?secret", .emptyKey), ("otpauth://totp/b?secret=", .emptyKey),
            ("otpauth://totp/b?secret=%20", .emptyKey),
            ("otpauth://totp/b?secret=A", .emptyKey),
            ("otpauth://totp/b?secret=GEZ1", .notBase32(at: 3)),
            ("otpauth://totp/b?secret=GE=ZD", .notBase32(at: 3)),
            ("otpauth://totp/b?secret=\(key)&secret=\(key)", .doubled(.secret)),
            ("otpauth://totp/b?secret=\(key)&SECRET=\(key)", .doubled(.secret)),
            ("otpauth://totp/b?secret=\(key)&issuer=A&issuer=A", .doubled(.issuer)),
            ("otpauth://totp/b?digits=&secret=\(key)&digits=6", .doubled(.digits)),
            ("otpauth://totp/b?secret=\(key)&x=1&x=1", .doubled(.parameter(3))),
            ("otpauth://totp/b?secret=\(key)&counter=1&counter=1", .doubled(.counter)),
            ("otpauth://totp/b?secret=\(key)&algorithm=MD5", .unknownAlgorithm),
            ("otpauth://totp/b?secret=\(key)&algorithm=SHA224", .unknownAlgorithm),
            ("otpauth://totp/b?secret=\(key)&algorithm=HMAC", .unknownAlgorithm),
            ("otpauth://totp/b?secret=\(key)&encoder=base32", .unknownEncoder),
            ("otpauth://steam/b?secret=\(key)&encoder=decimal", .unknownEncoder),
            ("otpauth://totp/b?secret=\(key)&digits=six", .notANumber(.digits)),
            ("otpauth://totp/b?secret=\(key)&digits=6.0", .notANumber(.digits)),
            ("otpauth://totp/b?secret=\(key)&digits=%D9%A6", .notANumber(.digits)),
            ("otpauth://totp/b?secret=\(key)&digits=0", .outOfRange(.digits)),
            ("otpauth://totp/b?secret=\(key)&digits=11", .outOfRange(.digits)),
            ("otpauth://totp/b?secret=\(key)&digits=-6", .outOfRange(.digits)),
            ("otpauth://totp/b?secret=\(key)&digits=99999999999999999999", .outOfRange(.digits)),
            ("otpauth://steam/b?secret=\(key)&digits=6", .outOfRange(.digits)),
            ("otpauth://totp/b?secret=\(key)&period=0", .outOfRange(.period)),
            ("otpauth://totp/b?secret=\(key)&period=-30", .outOfRange(.period)),
            ("otpauth://totp/b?secret=\(key)&period=9223372036854775808", .outOfRange(.period)),
            ("otpauth://totp/b?secret=\(key)&period=1m", .notANumber(.period)),
            ("otpauth://totp/b?secret=\(key)&t0=x", .notANumber(.start)),
            ("otpauth://totp/b?secret=\(key)&t0=9223372036854775808", .outOfRange(.start)),
            ("otpauth://hotp/b?secret=\(key)&counter=-1", .outOfRange(.counter)),
            (
                "otpauth://hotp/b?secret=\(key)&counter=18446744073709551616",
                .outOfRange(.counter)
            ),
            ("otpauth://hotp/b?secret=\(key)&counter=-", .notANumber(.counter)),
        ])
    func refused(uri: String, error: OneTimePasswordError) {
        #expect(throws: error) { _ = try KeyURI(uri) }
    }

    @Test("a URI that is too long is refused, as is one whose canonical form is too long")
    func length() throws {
        // A space needs three bytes when it is written, and the account occurs once.
        let spaced = "a" + String(repeating: " ", count: 21_000) + "a"
        let uri = try KeyURI("otpauth://totp/\(spaced)?secret=\(key)")
        let again = try KeyURI.format(uri.credential).withBytes { try KeyURI(parsing: $0) }
        #expect(again.credential == uri.credential)
        let tooLong = "a" + String(repeating: " ", count: 22_000) + "a"
        #expect(throws: OneTimePasswordError.tooLong) {
            _ = try KeyURI("otpauth://totp/\(tooLong)?secret=\(key)")
        }
        let padding = String(repeating: "&", count: KeyURI.maximumCount)
        #expect(throws: OneTimePasswordError.tooLong) {
            _ = try KeyURI("otpauth://totp/a?secret=\(key)\(padding)")
        }
        #expect(throws: OneTimePasswordError.tooLong) {
            try Credential(issuer: "", account: tooLong, key: uri.credential.key)
        }
    }

    @Test("errors and warnings never reveal the URI's content")
    func silence() throws {
        var generator = SeededGenerator(seed: 17)
        for _ in 0..<500 {
            var text = Array("otpauth://totp/CONTENT:CONTENT?CONTENT=CONTENT&secret=\(key)".utf8)
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let place = Int.random(in: 0..<text.count, using: &generator)
                text[place] = UInt8.random(in: 0...255, using: &generator)
            }
            var said = ""
            do { said = "\(try KeyURI(parsing: text.span).warnings)" } catch { said = "\(error)" }
            #expect(!said.contains("CONTENT") && !said.contains(key.prefix(8)))
        }
    }
}
