/// The size in pixels at which a vector graphic is drawn.
struct DrawnSize: Hashable {
    let width: Int
    let height: Int
    /// Pixels per unit of the picture.
    let scale: Double

    /// The longer side is at least this long, so that the modules of a small symbol are large
    /// enough.
    private static let shortest = 1_000.0
    /// The longer side is at most this long: the largest size at which a picture is read without
    /// reducing it.
    private static let longest = 2_400.0

    /// - Parameter resolution: the pixels per unit at which the picture is drawn if it is neither
    ///   too small nor too large.
    /// - Returns: `nil` if a side is not a positive number.
    init?(width: Double, height: Double, resolution: Double) {
        let longer = max(width, height)
        guard width > 0, height > 0, longer.isFinite else { return nil }
        let side = min(max(longer * resolution, Self.shortest), Self.longest)
        let scale = side / longer
        guard scale.isFinite else { return nil }
        self.scale = scale
        self.width = max(Int((width * scale).rounded()), 1)
        self.height = max(Int((height * scale).rounded()), 1)
    }
}
