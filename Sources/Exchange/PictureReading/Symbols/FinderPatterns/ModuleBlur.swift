import Glibc

/// A number for each module, with a margin of zeros as wide as the blur reaches.
struct ModulePlane {
    let values: [Float]
    let stride: Int
    private static let margin = 2

    init(values: [Float], stride: Int) {
        self.values = values
        self.stride = stride
    }

    init(_ inner: [Float], modules: Int) {
        stride = modules + 2 * Self.margin
        var values = [Float](repeating: 0, count: stride * stride)
        for row in 0..<modules {
            let start = (row + Self.margin) * stride + Self.margin
            for column in 0..<modules { values[start + column] = inner[row * modules + column] }
        }
        self.values = values
    }

    /// The numbers without the margin, row by row.
    var modules: [Float] {
        let size = stride - 2 * Self.margin
        return (Self.margin..<Self.margin + size).flatMap { row in
            let start = row * stride + Self.margin
            return values[start..<start + size]
        }
    }

    /// Combines the numbers of three planes, module by module.
    @inline(__always)
    func combined(
        _ b: ModulePlane, _ c: ModulePlane, _ combine: (Float, Float, Float) -> Float
    ) -> ModulePlane {
        let count = values.count
        let combined = unsafe [Float](unsafeUninitializedCapacity: count) { target, filled in
            unsafe values.withUnsafeBufferPointer { a in
                unsafe b.values.withUnsafeBufferPointer { b in
                    unsafe c.values.withUnsafeBufferPointer { c in
                        for index in 0..<count {
                            unsafe target[index] = combine(a[index], b[index], c[index])
                        }
                    }
                }
            }
            filled = count
        }
        return ModulePlane(values: combined, stride: stride)
    }
}

/// A Gaussian blur of modules that are surrounded by light ones.
struct ModuleBlur {
    private let near: Float
    private let far: Float
    private let own: Float

    init(width: Float) {
        let one = exp(-1 / (2 * width * width))
        let two = exp(-4 / (2 * width * width))
        own = 1 / (1 + 2 * one + 2 * two)
        near = one * own
        far = two * own
    }

    func callAsFunction(_ plane: ModulePlane) -> ModulePlane {
        along(along(plane, step: 1), step: plane.stride)
    }

    /// The margin of the result has no meaning, except for the rows above and below, which stay 0.
    private func along(_ plane: ModulePlane, step: Int) -> ModulePlane {
        let count = plane.values.count
        let blurred = unsafe [Float](unsafeUninitializedCapacity: count) { target, filled in
            unsafe target.initialize(repeating: 0)
            unsafe plane.values.withUnsafeBufferPointer { source in
                for index in 2 * step..<count - 2 * step {
                    let beside = unsafe source[index - step] + source[index + step]
                    let beyond = unsafe source[index - 2 * step] + source[index + 2 * step]
                    unsafe target[index] = own * source[index] + near * beside + far * beyond
                }
            }
            filled = count
        }
        return ModulePlane(values: blurred, stride: plane.stride)
    }
}
