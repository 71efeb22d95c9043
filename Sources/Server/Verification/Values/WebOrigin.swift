internal import WatchwordCryptography
internal import WatchwordSystem

/// Checks of the text form of origins, as browsers write it (RFC 6454, section 6.2).
package enum WebOrigin {
    /// The host of an origin: `https://host[:port]`, or `http` for `localhost`.
    ///
    /// - Returns: `nil` for any text that a browser would write differently.
    package static func host(of origin: String) -> String? {
        guard let (host, isEncrypted) = parts(of: origin), isHost(host),
            isEncrypted || isLocal(host)
        else { return nil }
        return host
    }

    /// Whether the text is the address of a server: an origin whose host may also be an IP address.
    static func isServer(_ address: String) -> Bool {
        if host(of: address) != nil { return true }
        guard let (host, isEncrypted) = parts(of: address) else { return false }
        guard host.hasPrefix("[") else {
            return NetworkAddress(host) != nil && (isEncrypted || host.hasPrefix("127."))
        }
        let inner = String(host.dropFirst().dropLast())
        return inner.contains(":") && inner == inner.lowercased() && NetworkAddress(inner) != nil
            && (isEncrypted || inner == "::1")
    }

    /// The host of `https://host[:port]` or `http://host[:port]` without a default port, with the
    /// brackets of an IPv6 address, and whether the connection is encrypted.
    private static func parts(of origin: String) -> (host: String, isEncrypted: Bool)? {
        for (scheme, standard) in [("https://", "443"), ("http://", "80")]
        where origin.hasPrefix(scheme) {
            let rest = origin.dropFirst(scheme.count)
            let bracket = rest.hasPrefix("[") ? rest.firstIndex(of: "]") : nil
            let colon = rest[(bracket ?? rest.startIndex)...].firstIndex(of: ":")
            if let colon {
                let port = rest[rest.index(after: colon)...]
                guard let number = UInt16(port), number > 0, String(number) == port,
                    port != standard
                else { return nil }
            }
            let host = rest[..<(colon ?? rest.endIndex)]
            guard bracket == nil || host.hasSuffix("]") else { return nil }
            return (String(host), scheme == "https://")
        }
        return nil
    }

    /// Whether the text is a host name in lower case, without a final dot.
    package static func isHost(_ name: String) -> Bool {
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        let isAddress = labels.last.map { $0.allSatisfy(\.isNumber) } ?? false
        return name.utf8.count <= 253 && !isAddress
            && labels.allSatisfy { label in
                (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
                    && label.utf8.allSatisfy { byte in
                        (0x61...0x7a).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2d
                    }
            }
    }

    /// Whether the text identifies an Android app by the digest of its certificate.
    package static func isAndroidApp(_ origin: String) -> Bool {
        let prefix = "android:apk-key-hash:"
        guard origin.hasPrefix(prefix) else { return false }
        let digest = Array(origin.utf8.dropFirst(prefix.utf8.count))
        do throws(CryptographyError) { return try Base64URL.decode(digest.span).count == 32 } catch
        {
            return false
        }
    }

    private static func isLocal(_ host: String) -> Bool {
        host == "localhost" || host.hasSuffix(".localhost")
    }
}
