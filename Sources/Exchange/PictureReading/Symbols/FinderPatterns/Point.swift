/// A point in a picture, or a vector between two points: pixels to the right and down.
struct Point: Hashable {
    var x: Double
    var y: Double

    static func + (a: Point, b: Point) -> Point { Point(x: a.x + b.x, y: a.y + b.y) }
    static func - (a: Point, b: Point) -> Point { Point(x: a.x - b.x, y: a.y - b.y) }
    static prefix func - (a: Point) -> Point { Point(x: -a.x, y: -a.y) }
    static func * (a: Point, factor: Double) -> Point { Point(x: a.x * factor, y: a.y * factor) }

    var length: Double { (x * x + y * y).squareRoot() }

    /// The unit vector in the same direction; a zero vector is returned unchanged.
    var unit: Point { length > 0 ? self * (1 / length) : self }

    func dot(_ other: Point) -> Double { x * other.x + y * other.y }

    func cross(_ other: Point) -> Double { x * other.y - y * other.x }

    /// Whether the point is inside the polygon with these corners: a ray crosses an odd number of
    /// edges.
    func isInside(_ corners: [Point]) -> Bool {
        var isInside = false
        for (index, a) in corners.enumerated() {
            let b = corners[(index + 1) % corners.count]
            if (a.y > y) != (b.y > y), x < a.x + (y - a.y) / (b.y - a.y) * (b.x - a.x) {
                isInside.toggle()
            }
        }
        return isInside
    }
}
