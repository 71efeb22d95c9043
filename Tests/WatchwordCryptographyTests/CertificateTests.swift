import Foundation
import TestSupport
import Testing

@testable import WatchwordCryptography

@Suite("Certificates", .enabled(if: ForeignProgram("openssl") != nil, "needs openssl"))
struct CertificateTests {
    @Test("fields and extensions are read")
    func fields() throws {
        let certificate = try Certificate(
            der(
                made([
                    "-subj", "/C=DE/O=Paper Mill/OU=Authenticator Attestation/CN=Möller",
                    "-utf8", "-addext", "extendedKeyUsage=critical,2.23.133.8.3,1.3.6.1.5.5.7.3.2",
                    "-addext", "1.2.3.4=DER:0500", "-addext", "basicConstraints=critical,CA:FALSE",
                ])))
        #expect(certificate.version == 3)
        #expect(certificate.subjectValues("2.5.4.6") == ["DE"])
        #expect(certificate.subjectValues("2.5.4.3") == ["Möller"])
        #expect(certificate.subject.count == 4)
        #expect(certificate.extendedKeyUsage == ["2.23.133.8.3", "1.3.6.1.5.5.7.3.2"])
        #expect(certificate.extension("2.5.29.37")?.isCritical == true)
        #expect(certificate.extension("1.2.3.4")?.value == [5, 0])
        #expect(certificate.extension("1.2.3.4")?.isCritical == false)
        #expect(certificate.extension("1.2.3.5") == nil)
        #expect(!certificate.isAuthority)
        guard case .ellipticCurve(.p256, let point)? = certificate.publicKey else {
            Issue.record("the key is on P-256")
            return
        }
        #expect(point.count == 65)
    }

    @Test("a subject with an attribute that is not text does not count as empty")
    func subjectWithoutText() throws {
        var encoded = try der(made(["-subj", "/CN=abc", "-utf8"]))
        #expect(try Certificate(encoded).hasSubject)
        // The issuer comes first; the same bytes are the subject.
        let text: [UInt8] = [0x0c, 3] + Array("abc".utf8)
        let subject = try #require(encoded.ranges(of: text).last)
        encoded.replaceSubrange(subject, with: [0x03, 3, 0, 1, 2])
        let certificate = try Certificate(encoded)
        #expect(certificate.subject.isEmpty)
        #expect(certificate.hasSubject)
        #expect(try !Certificate(der(made(["-subj", "/"]))).hasSubject)
    }

    @Test("a certificate authority is recognised")
    func authority() throws {
        let certificate = try Certificate(der(made(["-subj", "/CN=a"])))
        #expect(certificate.isAuthority)
    }

    @Test("truncations, and bytes after the certificate, are refused")
    func truncated() throws {
        let encoded = try der(made(["-subj", "/CN=a"]))
        for count in encoded.indices {
            #expect(throws: CryptographyError.notACertificate) {
                try Certificate(Array(encoded.prefix(count)))
            }
        }
        #expect(throws: CryptographyError.notACertificate) { try Certificate(encoded + [0]) }
        #expect(throws: CryptographyError.notACertificate) { try Certificate(encoded + encoded) }
    }

    @Test("a length that is not in its shortest form is refused, although OpenSSL accepts it")
    func longForm() throws {
        let encoded = try der(made(["-subj", "/CN=a"]))
        // SEQUENCE with a length of two bytes; a leading zero makes it three.
        #expect(encoded[0] == 0x30 && encoded[1] == 0x82)
        let longer = [0x30, 0x83, 0] + encoded[2...]
        #expect(throws: CryptographyError.notACertificate) { try Certificate(longer) }
    }

    @Test("a certificate with a duplicate extension is refused")
    func duplicateExtension() throws {
        var encoded = try der(
            made([
                "-subj", "/CN=a", "-addext", "1.2.3.4=DER:0500", "-addext", "1.2.3.5=DER:0500",
            ]))
        #expect(try Certificate(encoded).extension("1.2.3.5") != nil)
        let second = try #require(encoded.firstRange(of: [6, 3, 42, 3, 5] as [UInt8]))
        encoded[second.upperBound - 1] = 4
        #expect(throws: CryptographyError.certificateExtensions) { try Certificate(encoded) }
    }

    @Test("a certificate of 4 KiB is accepted, and one that is a byte longer is refused")
    func length() throws {
        let short = try der(made(["-subj", "/CN=a", "-addext", extensionValue(3000)]))
        let room = 3000 + Certificate.longest - short.count
        let longest = try der(made(["-subj", "/CN=a", "-addext", extensionValue(room - 4)]))
        #expect((4080...4096).contains(longest.count))
        #expect(throws: Never.self) { try Certificate(longest) }
        let longer = try der(made(["-subj", "/CN=a", "-addext", extensionValue(room + 4)]))
        #expect(longer.count > 4096)
        #expect(throws: CryptographyError.certificateTooLong) { try Certificate(longer) }
    }

    @Test("a certificate with a changed byte is refused or read differently, without a crash")
    func changedByte() throws {
        let encoded = try der(made(["-subj", "/CN=a"]))
        var generator = SeededGenerator(seed: 4)
        for _ in 0..<2_000 {
            var changed = encoded
            let index = Int.random(in: changed.indices, using: &generator)
            changed[index] ^= UInt8.random(in: 1...255, using: &generator)
            do { #expect(try Certificate(changed).encoded == changed) } catch { continue }
        }
    }

    @Test("trust anchors are read from PEM, even with text between them")
    func pem() throws {
        let (first, second) = (try made(["-subj", "/CN=a"]), try made(["-subj", "/CN=b"]))
        let text = "Anchors\n" + first + "\n# the second\n" + second + "\n"
        let bytes = Array(text.utf8)
        #expect(
            try TrustAnchors.certificates(pem: bytes.span).map(\.encoded)
                == [der(first), der(second)])
        let damaged = Array((first + second.replacing("MII", with: "M?I")).utf8)
        for bytes in [Array("no certificate".utf8), [], damaged, Array(first.utf8.dropLast(30))] {
            #expect(throws: CryptographyError.notACertificate) {
                try TrustAnchors.certificates(pem: bytes.span)
            }
        }
    }

    private func extensionValue(_ count: Int) -> String {
        "1.2.3.4=DER:" + "0482" + Hex.text([UInt8(count >> 8), UInt8(count & 0xff)])
            + String(repeating: "00", count: count)
    }

    /// A self-signed certificate in PEM.
    private func made(_ options: [String]) throws -> String {
        let program = try #require(ForeignProgram("openssl"))
        let outcome = try program.run(
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                "-nodes", "-days", "2", "-keyout", "/dev/null",
            ] + options)
        guard outcome.status == 0 else {
            throw TestIdentityFailure.refused(String(decoding: outcome.errors, as: UTF8.self))
        }
        return outcome.text
    }

    private func der(_ pem: String) throws -> [UInt8] {
        let lines = pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }
        return try [UInt8](#require(Data(base64Encoded: lines.joined())))
    }
}
