/// The address of a service: scheme, host, port and path prefix.
///
/// Plain HTTP is accepted only for this machine's own names and addresses, and no option changes
/// this: sign-in data must not cross a network unencrypted.
public struct ServerAddress: Hashable, Sendable {
    /// The URI scheme.
    public enum Scheme: UInt8, Hashable, Sendable {
        case https = 0
        case http = 1

        /// The default port of the scheme.
        var standardPort: UInt16 { self == .https ? 443 : 80 }
    }

    /// The scheme: `https` if the server uses TLS.
    public let scheme: Scheme
    /// An ASCII host name or an IP address; an IPv6 address has no brackets.
    public let host: String
    /// The port, explicit or default.
    public let port: UInt16
    /// The prefix of the service's paths: empty, or `/something`.
    public let prefix: String

    private static let longest = 512

    /// Parses `https://host`, optionally with a port and a path.
    ///
    /// - Throws: ``ServerAddressError``, which identifies the invalid part.
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

    /// The address in canonical form, without a default port.
    public var text: String {
        let scheme = self.scheme == .https ? "https" : "http"
        let port = self.port == self.scheme.standardPort ? "" : ":\(self.port)"
        return "\(scheme)://\(bracketedHost)\(port)\(prefix)"
    }

    /// The host as it is written in a URI.
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

/// The invalid part of a server's address.
public enum ServerAddressError: Error, Hashable, Sendable {
    /// The address does not begin with `https://` or `http://`.
    case scheme
    /// The address uses plain HTTP to another machine.
    case plain
    /// The host is missing or invalid (for example, not ASCII, or preceded by a user name).
    case host
    /// The port is not a number from 1 to 65535.
    case port
    /// The path has empty segments, dot segments, a query, or characters that need escaping.
    case path
    /// The address is longer than 512 bytes.
    case length
}
