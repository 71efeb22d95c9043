internal import WatchwordSystem

/// The name that distinguishes the accounts of this machine, or of several machines with the same
/// accounts, from the other subjects of a database: 1 to 63 characters from `[a-z0-9.-]`.
package struct Realm: Hashable, Sendable {
    package let text: String

    /// The maximum number of characters.
    package static let maximumCount = 63

    /// The prefix of the subjects of all realms.
    package static let beginning = "unix:"

    /// Returns `nil` for a text that is not a realm.
    package init?(_ text: String) {
        let isAllowed = { (byte: UInt8) in
            (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2E
                || byte == 0x2D
        }
        guard (1...Self.maximumCount).contains(text.utf8.count), text.utf8.allSatisfy(isAllowed)
        else { return nil }
        self.text = text
    }

    /// The name of this machine in lower case; `nil` if it has none that is a valid realm.
    ///
    /// The name is read from `/etc/hostname` (`hostname(5)`), because the kernel's name changes
    /// with the network.
    package static func ofThisMachine() -> Realm? {
        let content = ifPossible(try FileDescriptor(reading: "/etc/hostname").bytes(atMost: 4_096))
        return content.flatMap { Realm(hostnameFile: $0) }
    }

    /// Takes the first line that is neither empty nor a comment.
    init?(hostnameFile content: [UInt8]) {
        let lines = String(decoding: content, as: UTF8.self).split(whereSeparator: \.isNewline)
        guard let line = lines.first(where: { !$0.hasPrefix("#") }) else { return nil }
        self.init(line.lowercased())
    }

    /// The subject of the local account with this name.
    package func subject(of account: String) -> String { "\(Self.beginning)\(text):\(account)" }

    /// The subject of an account that cannot exist, because its name is empty.
    package var nobody: String { subject(of: "") }
}
