/// One of the three squares in a symbol's corners (ISO/IEC 18004, 6.3.3).
///
/// It consists of a core of 3 × 3 modules, a ring of the other colour (5 × 5 modules), and an outer
/// ring of the core's colour.
struct FinderPattern {
    let centre: Point
    /// The module size in pixels, from the area within the inner ring's outline.
    let module: Double
    /// Whether the core is dark, as in a symbol that is not inverted.
    let isDark: Bool
    /// The region number of the inner ring.
    ///
    /// The outer ring may be merged with its surroundings.
    let ring: Int

    /// Accepts `core` if the regions around it have the sizes and positions of a finder pattern.
    init?(core: Int, in regions: Regions) {
        let inner = regions[core]
        guard inner.area >= 4, let ringNumber = regions.surrounding(core) else { return nil }
        let ring = regions[ringNumber]
        // The ring around a core looks like a core itself, except at its centre.
        guard regions.number(at: inner.centre) == core else { return nil }
        // The ring has 16 modules and the core 9, if nothing is blurred or broken.
        let share = Double(ring.area) / Double(inner.area)
        guard ring.surrounds(inner), (0.6...5).contains(share),
            Self.isSquarish(inner), Self.isSquarish(ring),
            let outerNumber = regions.surrounding(ringNumber),
            regions[outerNumber].surrounds(ring)
        else { return nil }
        // 5 modules to 3.
        let widths = ring.width / inner.width
        let heights = ring.height / inner.height
        guard (1.15...3).contains(widths), (1.15...3).contains(heights),
            (ring.centre - inner.centre).length < 0.15 * max(ring.width, ring.height),
            // A square that is rotated by 45° fills half of its bounding box.
            Double(ring.area + inner.area) > 0.42 * ring.width * ring.height
        else { return nil }
        centre = (ring.centre + inner.centre) * 0.5
        module = (Double(ring.area + inner.area) / 25).squareRoot()
        isDark = regions.isDark(core)
        self.ring = ringNumber
    }

    private static func isSquarish(_ region: Region) -> Bool {
        (0.4...2.5).contains(region.width / region.height)
    }
}
