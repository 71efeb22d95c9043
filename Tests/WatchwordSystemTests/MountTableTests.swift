import Testing

@testable import ProcessConfinement

/// Paths that lead to the same folder.
struct MountTableTests {
    private func others(_ folder: String, _ lines: String...) -> Set<String> {
        let text = lines.enumerated().map { number, line in
            "\(number) 1 \(line) rw,relatime shared:1 - ext4 /dev/x rw\n"
        }
        let names = folder.split(separator: "/").map(String.init)
        let paths = MountTable(parsing: text.joined()).otherPaths(to: names)
        return Set(paths.map { "/" + $0.joined(separator: "/") })
    }

    @Test("a folder has more paths if it, a folder above it or a part of it is mounted elsewhere")
    func paths() {
        let root = "8:1 / /"
        #expect(others("/var/state", root).isEmpty)
        #expect(others("/var/state", root, "0:5 / /proc", "8:2 / /home").isEmpty)
        #expect(others("/var/state", root, "8:1 /var/state /srv/x") == ["/srv/x"])
        #expect(others("/var/state", root, "8:1 / /mnt") == ["/mnt/var/state"])
        #expect(others("/var/state", root, "8:1 /var/state/5 /srv/5") == ["/srv/5"])
        #expect(others("/var/state", root, "8:1 /var/stated /srv/x").isEmpty)
        // On itself, and on a separate file system.
        #expect(others("/var/state", root, "8:1 /var/state /var/state").isEmpty)
        #expect(
            others("/var/state", root, "8:2 /a /var/state", "8:2 / /b", "8:1 / /c") == ["/b/a"])
        // A later mount hides an earlier mount.
        #expect(
            others("/var/state", root, "8:2 / /var", "8:3 / /var", "8:3 / /b", "8:2 / /c")
                == ["/b/state"])
        #expect(others("/a b/c", root, #"8:1 /a\040b /x\134y"#) == [#"/x\y/c"#])
        #expect(others("/var/state").isEmpty)
    }
}
