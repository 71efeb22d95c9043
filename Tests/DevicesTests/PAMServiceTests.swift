import Devices
import TestSupport
import Testing

struct PAMServiceTests {
    @Test("the PAM service counts as installed if any of the folders contains its file")
    func folders() throws {
        let first = try TemporaryFolder()
        let second = try TemporaryFolder()
        let folders = [first.path, second.path]
        #expect(!PAMService.isInstalled(in: []))
        #expect(!PAMService.isInstalled(in: folders))
        try first.write([], to: "other")
        #expect(!PAMService.isInstalled(in: folders))
        try second.write([], to: "watchword")
        #expect(PAMService.isInstalled(in: folders))
        #expect(!PAMService.isInstalled(in: [first.path]))
    }

    @Test("a folder or a dangling link is not a service file, and a link to a file is one")
    func kinds() throws {
        let folder = try TemporaryFolder()
        try makeFolder(folder.file("watchword"))
        #expect(!PAMService.isInstalled(in: [folder.path]))
        try removeFile(folder.file("watchword"))
        try linkSymbolically("stack", to: folder.file("watchword"))
        #expect(!PAMService.isInstalled(in: [folder.path]))
        try folder.write([], to: "stack")
        #expect(PAMService.isInstalled(in: [folder.path]))
    }

    @Test("service files are looked up in the folders that Linux-PAM reads")
    func systemFolders() {
        #expect(PAMService.folders == ["/etc/pam.d", "/usr/lib/pam.d"])
    }
}
