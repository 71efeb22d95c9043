import TestSupport
import Testing
import VaultService

struct VaultPlaceTests {
    @Test("two paths to one file are the same place, and two files are different places")
    func places() throws {
        let folder = try TemporaryFolder()
        let place = try VaultPlace(at: folder.file("vault"))
        let same = try VaultPlace(at: folder.path + "/./vault")
        #expect(same == place)
        #expect(same.hashValue == place.hashValue)
        #expect(try VaultPlace(at: folder.file("other")) != place)
    }
}
