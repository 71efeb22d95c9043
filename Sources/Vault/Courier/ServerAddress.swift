package import WatchwordSystem

/// The address of a service: scheme, host, port and path prefix.
///
/// Plain HTTP is accepted only for this machine's own names and addresses, and no option changes
/// this: sign-in data must not cross a network unencrypted.
public struct ServerAddress: Hashable, Sendable {
    /// The URI scheme.
    public enum Scheme: String, Hashable, Sendable {
        case https, http

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

    /// The result of parsing an address.
    public enum Parsed: Hashable, Sendable {
        case address(ServerAddress)
        case invalid(Part)
    }

    /// The invalid part of a server's address.
    public enum Part: Hashable, Sendable {
        /// The address does not begin with `https://` or `http://`.
        case scheme
        /// The address uses plain HTTP to a different machine.
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

    /// Parses `https://host`, optionally with a port and a path.
    public static func parse(_ text: String) -> Parsed {
        guard text.utf8.count <= longest else { return .invalid(.length) }
        let scheme: Scheme
        let rest: Substring
        if text.lowercased().hasPrefix("https://") {
            (scheme, rest) = (.https, text.dropFirst(8))
        } else if text.lowercased().hasPrefix("http://") {
            (scheme, rest) = (.http, text.dropFirst(7))
        } else {
            return .invalid(.scheme)
        }
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        guard let (host, afterHost) = parseHost(rest[..<slash]) else { return .invalid(.host) }
        guard let port = parsePort(afterHost, standard: scheme.standardPort) else {
            return .invalid(.port)
        }
        guard let prefix = parsePrefix(rest[slash...]) else { return .invalid(.path) }
        guard scheme == .https || isLoopback(host) else { return .invalid(.plain) }
        return .address(ServerAddress(scheme: scheme, host: host, port: port, prefix: prefix))
    }

    /// The address in canonical form, without a default port.
    public var text: String {
        let port = self.port == scheme.standardPort ? "" : ":\(self.port)"
        return "\(scheme.rawValue)://\(bracketedHost)\(port)\(prefix)"
    }

    /// Whether the host is one of this machine's own names or addresses.
    package var isThisMachine: Bool { ServerAddress.isLoopback(host) }

    /// The host as it is written in a URI.
    public var bracketedHost: String { host.contains(":") ? "[\(host)]" : host }

    /// The host at the beginning of `text`, and the text after it.
    private static func parseHost(_ text: Substring) -> (String, rest: Substring)? {
        let host: Substring
        let rest: Substring
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            host = text[text.index(after: text.startIndex)..<end]
            rest = text[text.index(after: end)...]
            guard host.contains(":"), host.utf8.allSatisfy(isAddressByte) else { return nil }
        } else {
            let end = text.firstIndex(of: ":") ?? text.endIndex
            (host, rest) = (text[..<end], text[end...])
            guard isName(host) else { return nil }
        }
        return (host.lowercased(), rest)
    }

    /// The port after a colon; `standard` if `text` is empty.
    private static func parsePort(_ text: Substring, standard: UInt16) -> UInt16? {
        guard !text.isEmpty else { return standard }
        let digits = text.dropFirst()
        guard text.first == ":", digits.utf8.allSatisfy(isDigit), let port = UInt16(digits),
            port > 0
        else { return nil }
        return port
    }

    private static func parsePrefix(_ path: Substring) -> String? {
        var path = path
        while path.last == "/" { path.removeLast() }
        for part in path.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            guard !part.isEmpty, part != ".", part != "..",
                part.utf8.allSatisfy({ isNameByte($0) || $0 == UInt8(ascii: "~") })
            else { return nil }
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

extension ServerAddress {
    /// Parses an address; `nil` if a part of it is invalid.
    public init?(_ text: String) {
        guard case .address(let address) = ServerAddress.parse(text) else { return nil }
        self = address
    }

    /// The address without the path, as device keys sign it, of the server to which the device
    /// connected.
    public var audience: String {
        let whole = text
        return String(whole.dropLast(prefix.count))
    }
}

/// A server, and the certificate authorities that may certify it.
public struct TrustedServer: Sendable {
    /// The server's address.
    public let address: ServerAddress
    /// The certificates of the authorities to trust, in PEM; if empty, the system's are trusted.
    public let authorities: [UInt8]

    /// Combines an address with the trusted authorities.
    public init(_ address: ServerAddress, authorities: [UInt8] = []) {
        self.address = address
        self.authorities = authorities
    }
}

extension ServerAddress: Transferable {
    package func write(to output: FrameWriter) { output.append(text) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        let text = try fields.text(bytes, limit: HelperProtocol.longestText)
        guard let address = ServerAddress(text), address.text == text else { throw Unreadable() }
        self = address
    }
}
