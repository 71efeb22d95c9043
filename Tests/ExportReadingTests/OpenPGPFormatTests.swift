@testable import ExportReading
import Exports
import TestSupport
import Testing
import WatchwordCryptography

@Suite("OpenPGP messages")
struct OpenPGPFormatTests {
    /// Made with GnuPG 2.2, password "pw": Proton Pass' JSON with one item.
    static let armoured = """
        -----BEGIN PGP MESSAGE-----

        jA0ECQMCQKWteiCy6M9g0sAXAWMIp+sN8ukh4JOxqujfJP87o5AoFZ2c3Dg4l8Sz
        vG7ohnyIHiaiHJlM5SvYfnTbQ+9O40+KzRN9txNrRZw8hkYmOfYKhGChQ9zpZmGX
        wASwNgdZyGq3xBw9kdj32MttCKvCkPBO2VcmVrfWsbG39oEM1WOuBKJ2Gl5QKhBt
        Z9UxjyCe0aaqKs9XiQRnSYgvqrRFCe9yBme/YcPnNj7WeCHwdW5QQ4u+En8105eL
        mvfXSeWCIvWnX/D1qhcRm5eQpCfM2KI2piYsl5xIoAV7u3FRClZ4Mu8=
        =dacQ
        -----END PGP MESSAGE-----
        """

    /// Encrypted with a public key.
    static let publicKey = """
        hF4Dn4ZYVI2ZIzISAQdAnx9rBj/ZjOr2JZH14XUZMwWlpYAe4pZsdJV+ndjdnHcww1b02lRPSbCRm4zZa3LYTVJA\
        R6i5wJkc4LpcFs0hLwN09nONZVKP219SCxjyIAQR0j0BObDY/SZHASKsSOYnWo9ctIc30IqWgXnw8CI4xQbp53ih\
        zXyjK1xQ4Y+cG/HNKU+a/gg1jHfd3LVi+dA4
        """

    /// 200 MiB of zeros, compressed with bzip2; the password is "trial".
    static let bomb = """
        jA0ECQMC2PsGMUEjVdRg0sEkAXpsomB2ffIkc8PijPRcg3yODXNzSFwVS/rXN8JAEifVntqBbW93wGitv4NfwYeE\
        48kxsemJjfJOm++BwgcYKFXgvz6VHNg1EWcfMtVXmyv5JJ7YeDTjcnbFcQJi/2GY98kCVmLXvZPVVsrLaCWmqPsg\
        ZNKHTLfivY3SDya5ZIy6NuHrvTwDwGur4vV7O40qgFgEQ4C+0VKvgK33vpdFMasYrlqBaEsfHQHY+JUpUA9ToTn0\
        WTquGGWNbE4gLzJlR6lnQsmgj6d51Qc/EE7xxZ4FkVpGkcUXnx0N3aN94cbN5uKKaQx2G6LzkDsljHjbfALcUPRu\
        CN5cIovVqtIqkO9ZvnakW4fViT047B26t68ozIcBsv7kFG26+V8EpQ2nqNAFpB+L+ZvMzTnNIzxN8QDl+DT4LjBA\
        xuQWvJrXF+4u+fb4U0zSS03L4YD5gmAdxW0ZlEOARmwshSBpGtKGM5U4pLNnJesJ7+BiaYxNp+dekD9+eefZfnYM\
        ba3kxnSDh2ckhWWK5VmFcxTk/Pui2fFdUW4ZmyfOYiE2Q7JET06CDjtNV5sHVRZHQnuuA1hFKr8t/gPztIMwwbma\
        Rr2JI1HdwgluXRIRx/o7zH9UjwGCXF/4gl/TX7dKLxuvfIccc0u6+w==
        """

    static func bytes(_ base64: String) throws -> SecretBytes {
        try Base64.decodeSecret(Array(base64.utf8).span)
    }

    @Test("an ASCII-armoured message yields the item's entry")
    func armour() throws {
        let found = try read(Self.armoured, "pw")
        #expect(found.format == .protonPass)
        let entry = try #require(found.entries.first)
        #expect(
            EntrySummary(entry).description
                == "totp Acme|ann 00112233445566778899 SHA1 6 30 [\"Work\"] active")
        #expect(entry.note == "n")
        #expect(entry.isFavourite)
    }

    @Test("a message for a public key is reported as such, with and without a password")
    func publicKeys() throws {
        let message = try Self.bytes(Self.publicKey)
        let refusal = ExportError.unreadable(.protonPass, .publicKeyEncryption)
        for file in [message, SecretBytes(text: Self.armour(of: message))] {
            for password in [nil, SecretBytes(text: "pw")] {
                #expect {
                    try readExport(file, password: password)
                } throws: { error in
                    // Without armour, the first byte shows the reason before the format is known.
                    [refusal, .unreadable(nil, .publicKeyEncryption)].contains(
                        error as? ExportError)
                }
            }
        }
    }

    @Test("a message that decompresses to more than the limit is refused early")
    func decompression() throws {
        let message = try Self.bytes(Self.bomb)
        #expect(
            throws: ContainerError.overLimit(.documentSize, found: (1 << 20) + 1, allowed: 1 << 20)
        ) {
            try decryptOpenPGP(message, password: SecretBytes(text: "trial"), limit: 128 << 20)
        }
        let confined = try ConfinedReading(message.known, password: "trial", mebibytes: 256)
        #expect(confined.status == 0)
        #expect(confined.answer.contains("documentSize"))
        #expect(confined.duration < .seconds(10))
    }

    @Test("wrong passwords and damage are refused")
    func damage() throws {
        let password = SecretBytes(text: "pw")
        for wrong in ["", "Pw", "pw ", "pw\0", String(repeating: "p", count: 256)] {
            #expect(throws: ExportError.wrongPassword(.protonPass)) {
                try read(Self.armoured, wrong)
            }
        }
        #expect(throws: ExportError.passwordNeeded(.protonPass)) { try read(Self.armoured) }
        let lines = Self.armoured.split(separator: "\n", omittingEmptySubsequences: false)
        let message = try Base64.decode(Array(lines[2..<(lines.count - 2)].joined().utf8).span)
        let original = try decryptOpenPGP(
            SecretBytes(copying: message.span), password: password, limit: 1 << 20)
        for index in message.indices {
            var changed = message
            changed[index] ^= 1
            do {
                let content = try decryptOpenPGP(
                    SecretBytes(copying: changed.span), password: password, limit: 1 << 20)
                // The headers of packets have unused bits.
                #expect(content == original)
            } catch {
            }
            #expect(throws: (any Error).self) {
                try decryptOpenPGP(
                    SecretBytes(copying: message.span.extracting(..<index)), password: password,
                    limit: 1 << 20)
            }
        }
    }

    private static func armour(of message: SecretBytes) -> String {
        let lines = String(decoding: Base64.encode(message).known, as: UTF8.self)
        return "-----BEGIN PGP MESSAGE-----\n\n\(lines)\n-----END PGP MESSAGE-----\n"
    }
}
