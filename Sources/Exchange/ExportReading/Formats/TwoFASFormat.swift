internal import Exports
internal import WatchwordCoding
internal import WatchwordCryptography

/// 2FAS' JSON, plain or encrypted.
enum TwoFASFormat {
    static func read(
        _ document: JSONValue, password: SecretBytes?
    ) throws(ExportError) -> ExportRows {
        let groups = GroupNames(document["groups"], id: "id", name: "name")
        if let encrypted = document["servicesEncrypted"]?.secretText, encrypted.count > 0 {
            return try rows(
                try ExportFormat.twoFAS.decrypted(document, password, TwoFASContainer.open), groups)
        }
        // A decryption tool writes only the services.
        return try rows(document["services"] ?? document, groups)
    }

    private static func rows(
        _ services: JSONValue, _ groups: GroupNames
    ) throws(ExportError) -> ExportRows {
        guard let elements = services.elements else { throw .damaged(.twoFAS) }
        var rows = ExportRows(.twoFAS)
        var positions: [Int64] = []
        for (index, element) in elements.enumerated() {
            var position = Int64(index)
            if case .number(let number)? = element["order"]?["position"] { position = number }
            positions.append(position)
        }
        try rows.append(elements) { row, members throws(ExportRowRefusal) in
            try row.fill(
                [
                    .object("otp", isOptional: true), .issuer("name"), .issuer("otp.issuer"),
                    .account("otp.account"), .base32("secret"), .optionalType("otp.tokenType"),
                    .algorithm("otp.algorithm"), .digits("otp.digits"), .period("otp.period"),
                    .counter("otp.counter"),
                ], from: members)
            row.tags = groups.names(of: [members["groupId"] ?? .null])
        }
        rows.sort(by: positions)
        return rows
    }
}

/// The encrypted services in a 2FAS export.
enum TwoFASContainer {
    /// Returns the decrypted JSON list of services.
    static func open(
        _ document: JSONValue, password: SecretBytes
    ) throws(ExportError) -> SecretBytes {
        let parts = try parts(ContainerFields(document, .twoFAS).text("servicesEncrypted"))
        guard parts.count == 3, parts[2].count == 12 else { throw .damaged(.twoFAS) }
        let decryption = Decryption(.twoFAS)
        let key = try decryption.pbkdf2(.sha256, password, salt: parts[1], iterations: 10_000)
        return try decryption.openGCM(parts[0], key: key, nonce: parts[2])
    }

    /// Texts in Base64, separated by colons.
    private static func parts(_ text: SecretBytes) throws(ExportError) -> [SecretBytes] {
        let colons = text.withBytes { text in
            text.indices.filter { text[$0] == UInt8(ascii: ":") }
        }
        guard colons.count == 2 else { throw .damaged(.twoFAS) }
        var parts: [SecretBytes] = []
        var start = 0
        for end in colons + [text.count] {
            guard let part = text.part(start..<end).decodedBase64() else { throw .damaged(.twoFAS) }
            parts.append(part)
            start = end + 1
        }
        return parts
    }
}
