extension JSON {
    /// The kind of this value.
    public var kind: Kind {
        switch tape.kind(at: index) {
        case .absent: .absent
        case .null: .null
        case .true, .false: .bool
        case .integer, .real: .number
        case .string, .escaped: .string
        case .array: .array
        case .object: .object
        }
    }

    /// Whether there is a value at all; `null` is one.
    public var exists: Bool { tape.kind(at: index) != .absent }

    /// Whether this is the value `null`; false for what is missing.
    public var isNull: Bool { tape.kind(at: index) == .null }

    /// The text of a string; nil for other kinds.
    public var string: String? {
        switch tape.kind(at: index) {
        case .string, .escaped: tape.string(at: index)
        default: nil
        }
    }

    /// The value of `true` or `false`; nil for other kinds, numbers among them.
    public var bool: Bool? {
        switch tape.kind(at: index) {
        case .true: true
        case .false: false
        default: nil
        }
    }

    // MARK: - Numbers

    /// A number that is an integer and fits, however it is written (`3`, `3.0`, `3e0`); else nil.
    public var int: Int? { integer(Int.self) }

    /// A number that is an integer and fits into 64 bits with a sign; else nil.
    public var int64: Int64? { integer(Int64.self) }

    /// A number that is an integer and fits into 64 bits without a sign; else nil.
    public var uint64: UInt64? { integer(UInt64.self) }

    /// The number as any integer type, if it is an integer and fits; else nil.
    public func integer<T: FixedWidthInteger>(_ type: T.Type) -> T? {
        switch tape.kind(at: index) {
        case .integer: NumberText.integer(tape.text(at: index), as: type)
        case .real: NumberText.integral(tape.text(at: index), as: type)
        default: nil
        }
    }

    /// The nearest floating point number; nil for other kinds and beyond the range of `Double`.
    public var double: Double? {
        switch tape.kind(at: index) {
        case .integer, .real: NumberText.double(tape.text(at: index))
        default: nil
        }
    }

    /// The number as it is written in the document, with every digit; nil for other kinds.
    public var number: String? {
        switch tape.kind(at: index) {
        case .integer, .real: String(decoding: tape.text(at: index), as: UTF8.self)
        default: nil
        }
    }

    // MARK: - Containers

    /// How many elements an array or members an object has; 0 for other kinds.
    public var count: Int { isContainer ? Word.count(tape.words[index + 1]) : 0 }

    /// The elements of an array; nil for other kinds.
    public var array: [JSON]? {
        tape.kind(at: index) == .array ? elements : nil
    }

    /// The members of an object in the order of the document; nil for other kinds.
    public var object: [(key: String, value: JSON)]? {
        guard tape.kind(at: index) == .object else { return nil }
        var members: [(key: String, value: JSON)] = []
        members.reserveCapacity(count)
        var place = index + 2
        let stop = Word.end(tape.words[index + 1])
        while place < stop {
            members.append((tape.string(at: place), JSON(tape: tape, index: place + 1)))
            place = tape.end(of: place + 1)
        }
        return members
    }

    /// The keys of an object in the order of the document; empty for other kinds.
    public var keys: [String] { object?.map(\.key) ?? [] }

    /// The value of an object's first member with this key; `absent` if there is none.
    ///
    /// The search takes time in proportion to the number of members before it.
    public subscript(key: String) -> JSON {
        let found = key.utf8.withContiguousStorageIfAvailable {
            tape.firstValue(for: $0, inObjectAt: index)
        }
        guard
            let found = found
                ?? Array(key.utf8).withUnsafeBufferPointer({
                    tape.firstValue(for: $0, inObjectAt: index)
                })
        else { return .absent }
        return JSON(tape: tape, index: found)
    }

    /// The element of an array, counted from 0; `absent` if there is none.
    ///
    /// The search takes time in proportion to the position; to visit all, iterate.
    public subscript(position: Int) -> JSON {
        guard tape.kind(at: index) == .array, position >= 0, position < count else {
            return .absent
        }
        var place = index + 2
        for _ in 0..<position { place = tape.end(of: place) }
        return JSON(tape: tape, index: place)
    }

    @inline(__always)
    var isContainer: Bool { tape.words[index] >> 60 >= Word.Kind.array.rawValue }

    private var elements: [JSON] {
        var elements: [JSON] = []
        elements.reserveCapacity(count)
        for element in self { elements.append(element) }
        return elements
    }
}

extension Tape {
    /// The index of the first value with this key; nil without one, or if this is no object.
    @inline(__always)
    func firstValue(for key: UnsafeBufferPointer<UInt8>, inObjectAt object: Int) -> Int? {
        guard words[object] >> 60 == Word.Kind.object.rawValue else { return nil }
        let stop = Word.end(words[object + 1])
        var place = object + 2
        while place < stop {
            if isString(at: place, equalTo: key) { return place + 1 }
            place = end(of: place + 1)
        }
        return nil
    }
}

extension JSON: Sequence {
    /// Visits the elements of an array, or the values of an object; other kinds have none.
    public struct Iterator: IteratorProtocol, Sendable {
        private let tape: Tape
        private var place: Int
        private let stop: Int
        private let step: Int

        init(_ json: JSON) {
            tape = json.tape
            let isObject = json.tape.kind(at: json.index) == .object
            step = isObject ? 1 : 0
            place = json.isContainer ? json.index + 2 : 0
            stop = json.isContainer ? Word.end(json.tape.words[json.index + 1]) : 0
        }

        /// The next value, nil after the last.
        public mutating func next() -> JSON? {
            guard place < stop else { return nil }
            let value = JSON(tape: tape, index: place + step)
            place = tape.end(of: value.index)
            return value
        }
    }

    /// An iterator over the elements of an array, or the values of an object.
    public func makeIterator() -> Iterator { Iterator(self) }

    /// The number of values an iteration visits, known beforehand.
    public var underestimatedCount: Int { count }
}
