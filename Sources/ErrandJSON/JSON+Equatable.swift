extension JSON: Equatable {
    /// Whether two values are equal.
    ///
    /// - Numbers are compared exactly by value, in any notation: `1`, `1.0` and `10e-1` are equal.
    /// - Strings are compared by their Unicode scalars.
    /// - Arrays are compared in order.
    /// - Objects are compared without regard to the order of keys. The values of a repeated key are
    ///   compared in document order.
    public static func == (left: JSON, right: JSON) -> Bool {
        var pairs = [(left.index, right.index)]
        while let (a, b) = pairs.popLast() {
            if left.tape === right.tape, a == b { continue }
            let kind = left.kind(at: a)
            guard kind == right.kind(at: b) else { return false }
            switch kind {
            case .absent, .null:
                continue
            case .bool:
                guard left.tape.kind(at: a) == right.tape.kind(at: b) else { return false }
            case .number:
                guard sameNumber(left.tape.text(at: a), right.tape.text(at: b)) else {
                    return false
                }
            case .string:
                guard sameString(left.tape, a, right.tape, b) else { return false }
            case .array:
                guard addElements(left.tape, a, right.tape, b, to: &pairs) else { return false }
            case .object:
                guard addMembers(left.tape, a, right.tape, b, to: &pairs) else { return false }
            }
        }
        return true
    }

    private func kind(at index: Int) -> Kind { JSON(tape: tape, index: index).kind }

    private static func sameNumber(
        _ a: UnsafeBufferPointer<UInt8>, _ b: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        a.elementsEqual(b) || ExactNumber(a) == ExactNumber(b)
    }

    private static func sameString(_ left: Tape, _ a: Int, _ right: Tape, _ b: Int) -> Bool {
        if right.kind(at: b) == .string { return left.isString(at: a, equalTo: right.text(at: b)) }
        return right.unescapedBytes(at: b).withUnsafeBufferPointer {
            left.isString(at: a, equalTo: $0)
        }
    }

    private static func addElements(
        _ left: Tape, _ a: Int, _ right: Tape, _ b: Int, to pairs: inout [(Int, Int)]
    ) -> Bool {
        guard Word.count(left.words[a + 1]) == Word.count(right.words[b + 1]) else { return false }
        var (x, y) = (a + 2, b + 2)
        let stop = Word.end(left.words[a + 1])
        while x < stop {
            pairs.append((x, y))
            (x, y) = (left.end(of: x), right.end(of: y))
        }
        return true
    }

    private static func addMembers(
        _ left: Tape, _ a: Int, _ right: Tape, _ b: Int, to pairs: inout [(Int, Int)]
    ) -> Bool {
        guard Word.count(left.words[a + 1]) == Word.count(right.words[b + 1]) else { return false }
        var (x, y) = (a + 2, b + 2)
        let stop = Word.end(left.words[a + 1])
        // In most documents the keys are in the same order; the remaining keys are looked up.
        while x < stop, sameString(left, x, right, y) {
            pairs.append((x + 1, y + 1))
            (x, y) = (left.end(of: x + 1), right.end(of: y + 1))
        }
        if x == stop { return true }
        var places: [[UInt8]: [Int]] = [:]
        let last = Word.end(right.words[b + 1])
        while y < last {
            places[right.unescapedBytes(at: y), default: []].append(y + 1)
            y = right.end(of: y + 1)
        }
        var used: [[UInt8]: Int] = [:]
        while x < stop {
            let key = left.unescapedBytes(at: x)
            let occurrence = used[key, default: 0]
            guard let found = places[key], occurrence < found.count else { return false }
            used[key] = occurrence + 1
            pairs.append((x + 1, found[occurrence]))
            x = left.end(of: x + 1)
        }
        return true
    }
}
