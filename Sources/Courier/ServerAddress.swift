/// Where a service is: how it is talked to, its host and port, and what its paths begin with.
///
/// Plain HTTP is taken for this machine's own names and addresses only; there is no switch for more: what
/// signs a person in does not cross a network in the clear.
public struct ServerAddress: Hashable, Sendable {
    /// How the server is talked to.
    public enum Scheme: UInt8, Hashable, Sendable {
        case https = 0
        case http = 1

        /// The port when the address names none.
        var standardPort: UInt16 { self == .https ? 443 : 80 }
    }

    /// How the server is talked to.
    public let scheme: Scheme
    /// A name in ASCII, or an address; an IPv6 address without its brackets.
    public let host: String
    /// The port.
    public let port: UInt16
    /// What stands before the service's own paths: nothing, or `/something`.
    public let prefix: String

    private static let longest = 512

    /// Reads `https://host`, with a port and a path behind it if they are needed.
    ///
    /// - Throws: ``ServerAddressError``, which tells the part that is wrong.
    public init(parsing text: String) throws(ServerAddressError) {
        guard text.utf8.count <= ServerAddress.longest else { throw .length }
        let rest: Substring
        if text.lowercased().hasPrefix("https://") {
            (scheme, rest) = (.https, text.dropFirst(8))
        } else if text.lowercased().hasPrefix("http://") {
            (scheme, rest) = (.http, text.dropFirst(7))
        } else {
            throw .scheme
        }
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        let (host, port) = try ServerAddress.place(rest[..<slash])
        self.host = host
        self.port = port ?? scheme.standardPort
        prefix = try ServerAddress.prefix(rest[slash...])
        guard scheme == .https || ServerAddress.isLoopback(host) else { throw .plain }
    }

    /// The address as it is read back; a port that goes without saying is left out.
    public var text: String {
        let scheme = self.scheme == .https ? "https" : "http"
        let port = self.port == self.scheme.standardPort ? "" : ":\(self.port)"
        return "\(scheme)://\(bracketedHost)\(port)\(prefix)"
    }

    /// The host as it stands in an address.
    public var bracketedHost: String { host.contains(":") ? "[\(host)]" : host }

    private static func place(_ text: Substring) throws(ServerAddressError) -> (
        String, UInt16?
    ) {
        let host: Substring
        var rest: Substring
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { throw .host }
            host = text[text.index(after: text.startIndex)..<end]
            rest = text[text.index(after: end)...]
            guard host.contains(":"), host.utf8.allSatisfy(isAddressByte) else { throw .host }
        } else {
            let end = text.firstIndex(of: ":") ?? text.endIndex
            (host, rest) = (text[..<end], text[end...])
            guard isName(host) else { throw .host }
        }
        guard !rest.isEmpty else { return (host.lowercased(), nil) }
        guard rest.removeFirst() == ":", rest.utf8.allSatisfy(isDigit), let port = UInt16(rest),
            port > 0
        else { throw .port }
        return (host.lowercased(), port)
    }

    private static func prefix(_ path: Substring) throws(ServerAddressError) -> String {
        var path = path
        while path.last == "/" { path.removeLast() }
        for part in path.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            guard !part.isEmpty, part != ".", part != "..",
                part.utf8.allSatisfy({ isNameByte($0) || $0 == UInt8(ascii: "~") })
            else { throw .path }
        }
        return String(path)
    }

    private static func isName(_ host: Substring) -> Bool {
        (1...253).contains(host.utf8.count) && host.utf8.allSatisfy(isNameByte)
            && host.split(separator: ".", omittingEmptySubsequences: false).allSatisfy {
                !$0.isEmpty && !$0.hasPrefix("-") && !$0.hasSuffix("-")
            }
    }

    private static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        isDigit(byte) || (0x61...0x7a).contains(byte | 0x20) || byte == UInt8(ascii: "-")
            || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
    }

    private static func isAddressByte(_ byte: UInt8) -> Bool {
        isDigit(byte) || (0x61...0x66).contains(byte | 0x20) || byte == UInt8(ascii: ":")
            || byte == UInt8(ascii: ".")
    }
}

/// Which part of a server's address is wrong.
public enum ServerAddressError: Error, Hashable, Sendable {
    /// It begins with neither `https://` nor `http://`.
    case scheme
    /// It is plain HTTP to another machine.
    case plain
    /// There is no host, or it is none (a name outside ASCII, a user's name before it).
    case host
    /// The port is no number from 1 to 65535.
    case port
    /// The path has empty parts, dots, a query or characters that need escaping.
    case path
    /// It is longer than 512 bytes.
    case length
}
