internal import Exports
internal import OneTimePassword
internal import WatchwordCryptography

/// Portable Symmetric Key Containers (RFC 6030).
///
/// Signatures are not verified. Keys that are encrypted with X.509 certificates or RSA are not read.
/// The drafts of the RFC, which makers of tokens used before it, name some elements differently.
enum PSKCFormat {
    /// Reads a container.
    ///
    /// - Parameter password: The password, or the pre-shared key in hexadecimal digits.
    static func read(
        _ container: XMLElement, password: SecretBytes?
    ) throws(ExportError) -> ExportRows {
        guard container.name == "KeyContainer" else { throw .damaged(.pskc) }
        let version = container.attributeString("Version") ?? "1.0"
        guard version == "1" || version.hasPrefix("1.") else { throw .newerVersion(.pskc) }
        let opener = try PSKCDecryption(container, password: password)
        var rows = ExportRows(.pskc)
        let packages =
            container.children(named: "KeyPackage") + container.children(named: "Device")
        for package in packages {
            for key in package.children(named: "Key") {
                let secret = try value(key["Data"]?["Secret"], opener)
                let counter = try number(key["Data"]?["Counter"], opener)
                let interval = try number(key["Data"]?["TimeInterval"], opener)
                try rows.append { row throws(ExportRowRefusal) in
                    row.counter = counter
                    row.period = interval
                    if let secret { row.secret = .bytes(secret) }
                    try fill(&row, key, device: package["DeviceInfo"])
                }
            }
        }
        return rows
    }

    private static func fill(
        _ row: inout ExportRow, _ key: XMLElement, device: XMLElement?
    ) throws(ExportRowRefusal) {
        row.issuer = key["Issuer"]?.token ?? ""
        row.account =
            [key["UserId"], device?["UserId"], key["FriendlyName"], device?["SerialNo"]]
            .lazy.compactMap { $0?.token }.first { !$0.isEmpty } ?? ""
        let algorithm =
            key.attributeString("Algorithm") ?? key.attributeString("KeyAlgorithm") ?? ""
        switch algorithm.asciiLowercased.split(whereSeparator: { $0 == ":" || $0 == "#" }).last {
        case "hotp": row.kind = .hotp
        case "totp": row.kind = .totp
        // PINs, OCRA and other kinds of keys.
        default: throw .unknownType
        }
        guard let parameters = key["AlgorithmParameters"] ?? key["Usage"] else { return }
        row.algorithm = parameters["Suite"]?.token
        guard let response = parameters["ResponseFormat"] else { return }
        let encoding = response.attributeString("Encoding") ?? "DECIMAL"
        guard encoding.asciiLowercased == "decimal" else { throw .unknownType }
        row.digits = ExportRow.Number(response.attributeString("Length") ?? "")
    }

    /// A value, plain in Base64 or encrypted; `nil` if there is none.
    private static func value(
        _ element: XMLElement?, _ opener: PSKCDecryption
    ) throws(ExportError) -> SecretBytes? {
        if let plain = element?["PlainValue"] {
            guard let value = plain.text.decodedBase64Lines() else { throw .damaged(.pskc) }
            return value
        }
        guard let element, element["EncryptedValue"] != nil else { return nil }
        return try opener.open(element)
    }

    /// A number, plain in decimal digits; encrypted, as such digits or as big-endian bytes.
    private static func number(
        _ element: XMLElement?, _ opener: PSKCDecryption
    ) throws(ExportError) -> ExportRow.Number {
        if let plain = element?["PlainValue"] { return ExportRow.Number(plain.token) }
        guard let element, element["EncryptedValue"] != nil else { return .absent }
        let bytes = try opener.open(element)
        return bytes.withBytes { bytes in
            let digits = bytes.indices.allSatisfy { (0x30...0x39).contains(bytes[$0]) }
            if digits && bytes.count > 0 {
                return ExportRow.Number(String(decoding: [UInt8](copying: bytes), as: UTF8.self))
            }
            guard (1...8).contains(bytes.count) else { return .malformed }
            var number: UInt64 = 0
            for index in bytes.indices { number = number << 8 | UInt64(bytes[index]) }
            return Int64(exactly: number).map { .value($0) } ?? .large(number)
        }
    }
}
