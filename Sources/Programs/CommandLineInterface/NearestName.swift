/// Finds the name that the user probably meant.
package enum NearestName {
    /// The name that is closest to `typed`, if any is close enough to be suggested.
    package static func of(_ typed: String, among names: [String]) -> String? {
        let allowed = max(1, typed.count / 3)
        let measured = names.map { name in (name, distance(Array(typed), Array(name))) }
        // If distances are equal, prefer a name with the same first character as `typed`; then use
        // alphabetical order.
        let best = measured.min { left, right in
            (left.1, left.0.first == typed.first ? 0 : 1, left.0)
                < (right.1, right.0.first == typed.first ? 0 : 1, right.0)
        }
        if let best, best.1 <= allowed { return best.0 }
        let beginnings = names.filter { !typed.isEmpty && $0.hasPrefix(typed) }
        return beginnings.count == 1 ? beginnings[0] : nil
    }

    /// The Damerau–Levenshtein distance: insertions, deletions, replacements and swaps of adjacent
    /// characters.
    static func distance(_ left: [Character], _ right: [Character]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for (row, character) in left.enumerated() {
            var current = [row + 1]
            for column in right.indices {
                let replacing = last[column] + (character == right[column] ? 0 : 1)
                var cost = min(last[column + 1] + 1, current[column] + 1, replacing)
                if row > 0, column > 0, character == right[column - 1],
                    left[row - 1] == right[column]
                {
                    cost = min(cost, beforeLast[column - 1] + 1)
                }
                current.append(cost)
            }
            beforeLast = last
            last = current
        }
        return last[right.count]
    }
}
