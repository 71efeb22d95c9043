import OneTimePassword
import SecretVault
import WatchwordCryptography

// Entries.
extension Messages {
    /// An entry's type, parameters and access control in a few words.
    static func description(of entry: EntrySummary) -> String {
        if entry.tombstone != nil { return entry.hasVanished ? "vanished" : "wiped" }
        var words = [entry.kind.rawValue]
        if entry.kind.isUncomputed { words.append("not computed") }
        if let algorithm = entry.algorithm, algorithm != .sha1 { words.append(algorithm.rawValue) }
        switch entry.style {
        case .decimal(let length) where length.digits != 6: words.append("\(length.digits) digits")
        case .steam: words.append("steam")
        case .decimal, nil: break
        }
        if let period = entry.period, period != 30 { words.append("\(period) s") }
        if let access = description(of: entry.accessControl, for: entry.kind) {
            words.append(access)
        }
        if entry.details.isFavourite { words.append("favourite") }
        if !entry.details.tags.isEmpty { words.append("[\(tags(of: entry))]") }
        return words.joined(separator: ", ")
    }

    /// An entry's tags, in its order.
    static func tags(of entry: EntrySummary) -> String {
        entry.details.tags.map { VisibleText.of($0) }.joined(separator: ", ")
    }
}
