internal import Exports
internal import WatchwordCoding

/// FreeOTP+'s JSON.
enum FreeOTPPlusFormat {
    static func read(_ document: JSONValue) throws(ExportError) -> ExportRows {
        guard let tokens = document["tokens"]?.elements else { throw .damaged(.freeOTPPlus) }
        var places: [String: Int64] = [:]
        for (index, name) in (document["tokenOrder"]?.elements ?? []).enumerated() {
            if let name = name.string { places[name] = Int64(index) }
        }
        var rows = ExportRows(.freeOTPPlus)
        try rows.append(tokens) { row, fields throws(ExportRowRefusal) in
            try FreeOTPToken.fill(&row, fields)
        }
        // The app ignores tokens that are missing from the order; they come last.
        rows.sort(by: tokens.map { places[name(of: $0)] ?? Int64.max })
        return rows
    }

    /// The name in `tokenOrder`.
    private static func name(of token: JSONValue) -> String {
        let issuer = token["issuerInt"]?.string ?? token["issuerExt"]?.string ?? ""
        return "\(issuer):\(token["label"]?.string ?? "")"
    }
}
