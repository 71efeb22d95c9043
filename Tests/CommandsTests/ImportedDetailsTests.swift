import Exports
import OneTimePassword
import SecretVault
import TestSupport
import Testing
import VaultService
import WatchwordCryptography

@testable import Commands

struct ImportedDetailsTests {
    private func imported(
        tags: [String] = [], note: String = "", icon: String = ""
    ) -> ImportedDetails {
        let code = UncomputedCode(
            kind: .motp, issuer: "", account: "a",
            secret: SecretBytes(copying: [UInt8](repeating: 1, count: 8).span), pin: nil)
        return ImportedDetails(
            ExportedEntry(
                content: .notComputed(code), tags: tags, note: note, icon: icon,
                isFavourite: true))
    }

    @Test("details that fit are kept unchanged")
    func kept() {
        let found = imported(tags: ["a", "b"], note: "n\nm", icon: "github")
        #expect(
            found.details
                == EntryDetails(
                    tags: ["a", "b"], note: "n\nm", icon: "github", isFavourite: true))
        #expect(found.warnings.isEmpty)
    }

    @Test("details that the vault cannot store are left out with a warning")
    func leftOut() {
        func text(_ count: Int) -> String { String(repeating: "x", count: count) }
        let fits = imported(tags: [text(256)], note: text(16_384), icon: text(256))
        #expect(fits.warnings.isEmpty && fits.details.note.count == 16_384)
        let long = imported(tags: [text(257), "a"], note: text(16_385), icon: text(257))
        #expect(long.details == EntryDetails(tags: ["a"], isFavourite: true))
        #expect(Set(long.warnings) == [.leftOut(.tag), .leftOut(.note), .leftOut(.icon)])
        let many = imported(tags: (0..<65).map { "\($0)" })
        #expect(many.details.tags.count == 64 && many.warnings == [.leftOut(.tag)])
    }

    @Test("tags are trimmed, and empty and repeated ones dropped, whatever the reader sends")
    func tags() {
        #expect(imported(tags: [" a ", "a", "", "  "]).details.tags == ["a"])
    }

    @Test("missing details are added once, and an existing note is kept")
    func completed() {
        let own = EntryDetails(tags: ["mine", "both"], note: "own\nlines\nhere")
        let other = EntryDetails(
            tags: ["both", "new"], note: "other", icon: "j", isFavourite: true)
        let all = own.completed(by: other)
        #expect(
            all
                == EntryDetails(
                    tags: ["mine", "both", "new"], note: "own\nlines\nhere", icon: "j",
                    isFavourite: true))
        #expect(all.completed(by: other) == all && own.completed(by: EntryDetails()) == own)
        #expect(EntryDetails().completed(by: other) == other)
        #expect(own.hasOtherNote(than: other) && !EntryDetails().hasOtherNote(than: other))
        for part in ["", "own", "lines\nhere", "own\nlines\nhere"] {
            #expect(!own.hasOtherNote(than: EntryDetails(note: part)))
        }
        for part in ["ow", "own\nhere", "own\nlines\nhere\nmore"] {
            #expect(own.hasOtherNote(than: EntryDetails(note: part)))
        }
    }

    @Test("an import that adds details to an entry keeps all of the owner's details")
    func adding() {
        let own = EntryDetails(tags: ["mine", "both"], note: "own", icon: "i", isFavourite: false)
        let other = EntryDetails(
            tags: ["both", "new"], note: "other", icon: "j", isFavourite: true)
        let all = own.adding(other)
        #expect(
            all
                == EntryDetails(
                    tags: ["mine", "both", "new"], note: "own\nother", icon: "i",
                    isFavourite: true))
        #expect(all.adding(other) == all && own.adding(EntryDetails()) == own)
        #expect(EntryDetails().adding(other) == other)
        let full = EntryDetails(
            tags: (0..<64).map { "\($0)" }, note: String(repeating: "n", count: 16_380))
        #expect(
            full.adding(other)
                == EntryDetails(
                    tags: full.tags, note: full.note, icon: "j", isFavourite: true))
    }
}
