/// Finds in one pass over a name whether it can contain one of several texts, regardless of the case of letters.
///
/// Most names contain none and need no further test. The automaton (Aho, Corasick 1975) knows letters only: of a text
/// with other bytes it finds the longest run of letters.
struct NameScan: Sendable {
    /// The following state for each state and byte: 32 columns for each state, the first for bytes that are no letters.
    ///
    /// A state is the offset of its columns.
    private let next: [UInt16]
    private static let found = UInt16.max
    private static let columns = 32

    /// - Parameter texts: Texts in lower case.
    init(_ texts: some Sequence<[UInt8]>) {
        var (next, isEnd) = ([[Int?](repeating: nil, count: Self.columns)], [false])
        for text in texts {
            var state = 0
            for byte in Self.longestRun(of: text) {
                if let known = next[state][Self.column(byte)] {
                    state = known
                } else {
                    next[state][Self.column(byte)] = next.count
                    state = next.count
                    next.append([Int?](repeating: nil, count: Self.columns))
                    isEnd.append(false)
                }
            }
            isEnd[state] = true
        }
        self.next = Self.completed(next, isEnd)
    }

    /// Adds the transitions after a mismatch, in order of depth: those of the longest suffix that is a state.
    private static func completed(_ trie: [[Int?]], _ ends: [Bool]) -> [UInt16] {
        var (next, isEnd) = (trie, ends)
        var suffixes = [Int](repeating: 0, count: next.count)
        var queue = [0]
        while let state = queue.first {
            queue.removeFirst()
            isEnd[state] = isEnd[state] || isEnd[suffixes[state]]
            for column in 0..<columns {
                let other = state == 0 || column == 0 ? 0 : next[suffixes[state]][column] ?? 0
                if let child = next[state][column] {
                    suffixes[child] = other
                    queue.append(child)
                } else {
                    next[state][column] = other
                }
            }
        }
        return next.flatMap { row in
            row.map { state in
                let state = state ?? 0
                return isEnd[state] ? found : UInt16(state * columns)
            }
        }
    }

    /// Whether a name has ASCII bytes only and contains none of the texts.
    func excludes(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        next.withUnsafeBufferPointer { next in
            var state = 0
            for byte in name {
                guard byte < 0x80 else { return false }
                let following = next[state + Self.column(byte)]
                if following == Self.found { return false }
                state = Int(following)
            }
            return true
        }
    }

    /// 1 to 26 for letters, 0 for other bytes.
    private static func column(_ byte: UInt8) -> Int {
        let letter = (byte | 0x20) &- 0x60
        return byte >= 0x40 && (1...26).contains(letter) ? Int(letter) : 0
    }

    private static func longestRun(of text: [UInt8]) -> ArraySlice<UInt8> {
        text.split { column($0) == 0 }.reduce([]) { $0.count > $1.count ? $0 : $1 }
    }
}
