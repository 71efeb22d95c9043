import TestSupport
import Testing

@testable import OneTimePassword

/// What the made pictures' texts stand for, and their codes as another program computed them.
@Suite("Entries of the made pictures")
struct MadePictureEntryTests {
    @Test(
        "each text is read as its entries, and gives their codes", arguments: try MadePicture.all())
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
