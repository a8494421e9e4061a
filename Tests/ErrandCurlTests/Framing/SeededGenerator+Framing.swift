import TestSupport

extension SeededGenerator {
    /// A number below a limit.
    mutating func next(_ limit: Int) -> Int { Int.random(in: 0..<max(1, limit), using: &self) }

    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(next(256)) } }
}
