internal import Exports
internal import OneTimePassword
internal import WatchwordCryptography

/// The strings of a KeePass entry, in which many programs keep one-time passwords in their own way.
struct KeePassAttributes {
    /// What KeePassXC writes into a key URI for an empty title or user name.
    static let placeholders = ["KeePassXC", "none"]

    private let values: [String: SecretBytes]

    init(_ values: [String: SecretBytes]) { self.values = values }

    /// The rows of the first way that the entry uses; none if it has no one-time password.
    ///
    /// KeePassXC numbers further fields of an item that it imported: `otp_1` and so on.
    func rows(_ template: ExportRow) -> [ExportRow] {
        if let row = keeTrayTOTP(template) { return [row] }
        var rows: [ExportRow] = []
        for name in ["otp"] + (1...99).map({ "otp_\($0)" }) {
            guard let value = values[name], value.count > 0 else { continue }
            rows.append(keePassXC(template, value))
        }
        if !rows.isEmpty { return rows }
        return [keePass(template, "TimeOtp", .totp) ?? keePass(template, "HmacOtp", .hotp)]
            .compactMap { $0 }
    }

    /// `TOTP Seed` and `TOTP Settings`, such as "30;6", or "30;S" for Steam.
    private func keeTrayTOTP(_ template: ExportRow) -> ExportRow? {
        guard let seed = values["TOTP Seed"], seed.count > 0 else { return nil }
        var row = template
        row.secret = .base32(seed)
        let settings = text("TOTP Settings").split(separator: ";", omittingEmptySubsequences: false)
        if let period = settings.first { row.period = ExportRow.Number(String(period)) }
        if settings.count > 1 {
            if settings[1] == "S" {
                row.kind = .steam
            } else {
                row.digits = ExportRow.Number(String(settings[1]))
            }
        }
        return row
    }

    /// A key URI, or a query such as `key=…&step=30&size=6&otpHashMode=Sha256`.
    private func keePassXC(_ template: ExportRow, _ value: SecretBytes) -> ExportRow {
        let query = SecretBytes(joining: [SecretBytes([UInt8(ascii: "?")]), value])
        let parts = query.withBytes { KeyURIParts($0) }
        func parameter(_ name: String) -> SecretBytes? {
            parts.first(name).map { range in
                query.withBytes { KeyURIParts.decoded($0.extracting(range)) }
            }
        }
        guard let key = parameter("key") else {
            var row = template
            row.secret = .field(value)
            row.placeholders = Self.placeholders
            return row
        }
        func text(_ name: String) -> String { Self.text(parameter(name)) }
        var row = template
        row.secret = .base32(key)
        row.algorithm = text("otphashmode")
        row.digits = ExportRow.Number(text("size"))
        row.period = ExportRow.Number(text("step"))
        row.counter = ExportRow.Number(text("counter"))
        let type = text("type")
        row.kind = type.isEmpty ? .totp : ExportRow.Kind(word: type)
        return row
    }

    /// KeePass' own strings, such as `TimeOtp-Secret-Base32`.
    private func keePass(
        _ template: ExportRow, _ prefix: String, _ kind: ExportRow.Kind
    ) -> ExportRow? {
        var row = template
        row.kind = kind
        func secret(_ suffix: String) -> SecretBytes? {
            values["\(prefix)-Secret\(suffix)"].flatMap { $0.count > 0 ? $0 : nil }
        }
        if let bytes = secret("") {
            row.secret = .bytes(bytes)
        } else if let digits = secret("-Hex") {
            row.secret = .hex(digits)
        } else if let text = secret("-Base32") {
            row.secret = .base32(text)
        } else if let text = secret("-Base64") {
            row.secret = text.decodedBase64().map { .bytes($0) } ?? .none
            if case .none = row.secret { row.refusal = .badSecret }
        } else {
            return nil
        }
        if kind == .hotp {
            row.counter = ExportRow.Number(text("HmacOtp-Counter"))
        } else {
            row.digits = ExportRow.Number(text("TimeOtp-Length"))
            row.period = ExportRow.Number(text("TimeOtp-Period"))
            row.algorithm = text("TimeOtp-Algorithm")
        }
        return row
    }

    /// The text of a string that is not secret; empty if there is none, or if it is not UTF-8.
    func text(_ name: String) -> String { Self.text(values[name]) }

    private static func text(_ value: SecretBytes?) -> String {
        guard let value else { return "" }
        return value.decodedText() ?? ""
    }
}
