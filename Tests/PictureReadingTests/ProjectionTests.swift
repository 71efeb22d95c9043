import Testing

@testable import PictureReading

@Suite struct ProjectionTests {
    private let square = [(0.0, 0.0), (1, 0), (1, 1), (0, 1), (0.5, 0.25)]
        .map { Point(x: $0, y: $1) }

    @Test("a projection is recovered from points and their images")
    func recovered() throws {
        func image(_ p: Point) -> Point {
            let depth = 1 + 0.3 * p.x + 0.1 * p.y
            return Point(
                x: (400 * p.x + 50 * p.y + 20) / depth, y: (30 * p.x + 350 * p.y + 5) / depth)
        }
        let projection = try #require(Projection(square.map { ($0, image($0)) }, isAffine: false))
        for place in [Point(x: 0.3, y: 0.9), Point(x: 0.9, y: 0.1)] {
            #expect((projection(place) - image(place)).length < 0.001)
        }
    }

    @Test("an affine projection keeps parallel lines parallel")
    func affine() throws {
        let pairs = square.map { ($0, Point(x: 200 * $0.x + 9, y: 100 * $0.y + 40 * $0.x)) }
        let projection = try #require(Projection(pairs, isAffine: true))
        #expect((projection(Point(x: 2, y: 3)) - Point(x: 409, y: 380)).length < 0.001)
    }

    @Test("points on one line do not determine a projection")
    func degenerate() {
        let line = (0..<12).map { Point(x: Double($0) / 12, y: Double($0) / 12) }
        #expect(Projection(line.map { ($0, $0) }, isAffine: false) == nil)
        #expect(Projection(line.map { ($0, $0) }, isAffine: true) == nil)
    }
}
