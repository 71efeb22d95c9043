/// One of the three squares in a symbol's corners (ISO/IEC 18004, 6.3.3): a core of 3 × 3 modules in a
/// ring of the other colour, 5 × 5 modules outside, in a ring of the first.
struct FinderPattern {
    let centre: Point
    /// Pixels a module, from the area within the inner ring's outline.
    let module: Double
    /// Whether the core is dark, as in a symbol that is not inverted.
    let isDark: Bool
    /// The inner ring, as a region's number.
    ///
    /// The outer one may have run into its surroundings.
    let ring: Int

    /// Takes `core` for one if the regions around it have the sizes and places of one.
    init?(core: Int, in regions: Regions) {
        let inner = regions[core]
        guard inner.area >= 4, let ringNumber = regions.surrounding(core) else { return nil }
        let ring = regions[ringNumber]
        // The ring around a core looks like a core itself, but for its middle.
        guard regions.number(at: inner.centre) == core else { return nil }
        // 16 modules of ring to 9 of core, when nothing is blurred or broken.
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
            // A square that stands on its corner fills half of its box.
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
