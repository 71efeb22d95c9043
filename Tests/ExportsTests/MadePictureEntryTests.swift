import Exports
import OneTimePassword
import TestSupport
import Testing

/// The entries in the generated images' texts, and their codes as computed by another program.
@Suite("Entries of the generated pictures")
struct MadePictureEntryTests {
    @Test(
        "the texts of each picture yield its entries and their codes",
        arguments: try MadePicture.all())
    func entries(picture: MadePicture) throws {
        let credentials = try picture.texts.flatMap(Self.credentials)
        #expect(credentials.map(\.issuer) == picture.entries.map(\.issuer))
        #expect(credentials.map(\.account) == picture.entries.map(\.account))
        for (credential, entry) in zip(credentials, picture.entries) {
            let code =
                if let time = entry.time {
                    try credential.code(atUnixTime: time)
                } else {
                    try credential.code(counter: #require(entry.counter))
                }
            #expect(code.text == entry.code, "\(picture.file)")
        }
    }

    private static func credentials(_ text: String) throws -> [Credential] {
        let bytes = Array(text.utf8)
        if MigrationBatch.isMigrationURI(bytes.span) {
            return try MigrationBatch(parsing: bytes.span).credentials
        }
        return KeyURI.isKeyURI(bytes.span) ? [try KeyURI(parsing: bytes.span).credential] : []
    }
}
