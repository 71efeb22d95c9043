/// Three finder patterns that may belong to one symbol: similar in size, with a right angle at the
/// first.
struct FinderTriplet {
    /// The pattern at the right angle.
    let corner: FinderPattern
    let across: FinderPattern
    let down: FinderPattern
    /// The deviation from the ideal: 0 for equal sizes, equal legs and a right angle.
    let deviation: Double

    /// Tests the three patterns with `corner` at the right angle; `nil` if they cannot belong to
    /// one symbol.
    init?(corner: FinderPattern, _ a: FinderPattern, _ b: FinderPattern) {
        let toA = a.centre - corner.centre
        let toB = b.centre - corner.centre
        let cosine = toA.dot(toB) / (toA.length * toB.length)
        let legs = toA.length / toB.length
        guard abs(cosine) < 0.6, (0.5...2).contains(legs) else { return nil }
        let smallest = min(corner.module, a.module, b.module)
        let largest = max(corner.module, a.module, b.module)
        // Version 1 has 14 modules between two centres, version 40 has 170.
        let reach = 9 * smallest...240 * largest
        guard largest < Self.likeness * smallest, reach.contains(toA.length),
            reach.contains(toB.length)
        else { return nil }
        self.corner = corner
        let turnsRight = toA.cross(toB) > 0
        across = turnsRight ? a : b
        down = turnsRight ? b : a
        deviation = (largest / smallest - 1) + (max(legs, 1 / legs) - 1) + abs(cosine)
    }

    /// The largest size ratio of two patterns in a symbol that is seen at an angle.
    private static let likeness = 2.5

    /// All triplets among the patterns, the most likely first.
    ///
    /// The other two patterns of a symbol are among the nearest ones of similar size.
    static func all(among patterns: [FinderPattern]) -> [FinderTriplet] {
        var found: [FinderTriplet] = []
        for (index, corner) in patterns.enumerated() {
            let others = patterns.indices.filter { other in
                let pattern = patterns[other]
                return other != index && pattern.isDark == corner.isDark
                    && pattern.module < likeness * corner.module
                    && corner.module < likeness * pattern.module
            }
            let near = others.map { patterns[$0] }.sorted {
                ($0.centre - corner.centre).length < ($1.centre - corner.centre).length
            }.prefix(16)
            for (position, a) in near.enumerated() {
                for b in near[(position + 1)...] {
                    if let triplet = FinderTriplet(corner: corner, a, b) { found.append(triplet) }
                }
            }
        }
        return found.sorted { $0.deviation < $1.deviation }
    }

    /// The regions that identify its patterns.
    var rings: Set<Int> { [corner.ring, across.ring, down.ring] }
}
