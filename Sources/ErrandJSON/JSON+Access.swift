extension JSON {
    /// The kind of this value.
    @inlinable public var kind: Kind {
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
    @inlinable public var exists: Bool { tape.kind(at: index) != .absent }

    /// Whether this is the value `null`; false for what is missing.
    @inlinable public var isNull: Bool { tape.kind(at: index) == .null }

    /// The text of a string; nil for other kinds.
    @inlinable public var string: String? {
        switch tape.kind(at: index) {
        case .string, .escaped: tape.string(at: index)
        default: nil
        }
    }

    /// The value of `true` or `false`; nil for other kinds, numbers among them.
    @inlinable public var bool: Bool? {
        switch tape.kind(at: index) {
        case .true: true
        case .false: false
        default: nil
        }
    }

    // MARK: - Numbers

    /// A number that is an integer and fits, however it is written (`3`, `3.0`, `3e0`); else nil.
    @inlinable public var int: Int? { tape.int(at: index) }

    /// A number that is an integer and fits into 64 bits with a sign; else nil.
    @inlinable public var int64: Int64? { tape.int64(at: index) }

    /// A number that is an integer and fits into 64 bits without a sign; else nil.
    @inlinable public var uint64: UInt64? { tape.uint64(at: index) }

    /// The number as any integer type, if it is an integer and fits; else nil.
    public func integer<T: FixedWidthInteger>(_ type: T.Type) -> T? {
        tape.integer(at: index, as: type)
    }

    /// The nearest floating point number; nil for other kinds and beyond the range of `Double`.
    @inlinable public var double: Double? { tape.double(at: index) }

    /// The number as it is written in the document, with every digit; nil for other kinds.
    public var number: String? {
        switch tape.kind(at: index) {
        case .integer, .real: String(decoding: tape.text(at: index), as: UTF8.self)
        default: nil
        }
    }

    // MARK: - Containers

    /// How many elements an array or members an object has; 0 for other kinds.
    @inlinable public var count: Int { isContainer ? Word.count(tape.words[index + 1]) : 0 }

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
    @inlinable public subscript(key: String) -> JSON {
        JSON(tape: tape, index: tape.place(of: key, inObjectAt: index))
    }

    /// The element of an array, counted from 0; `absent` if there is none.
    ///
    /// The search takes time in proportion to the position; to visit all, iterate.
    @inlinable public subscript(position: Int) -> JSON {
        JSON(tape: tape, index: tape.place(of: position, inArrayAt: index))
    }

    @inlinable @inline(__always)
    var isContainer: Bool { tape.words[index] >> 60 >= Word.Kind.array.rawValue }

    private var elements: [JSON] {
        var elements: [JSON] = []
        elements.reserveCapacity(count)
        for element in self { elements.append(element) }
        return elements
    }
}

extension JSON: Sequence {
    /// Visits the elements of an array, or the values of an object; other kinds have none.
    public struct Iterator: IteratorProtocol, Sendable {
        @usableFromInline let tape: Tape
        @usableFromInline var place: Int
        @usableFromInline let stop: Int
        @usableFromInline let step: Int

        @inlinable @inline(__always)
        init(_ json: JSON) {
            tape = json.tape
            (place, stop, step) = json.tape.extent(of: json.index)
        }

        /// The next value, nil after the last.
        @inlinable @inline(__always)
        public mutating func next() -> JSON? {
            guard place < stop else { return nil }
            let index = place &+ step
            place = tape.end(of: index)
            return JSON(tape: tape, index: index)
        }
    }

    /// An iterator over the elements of an array, or the values of an object.
    @inlinable @inline(__always)
    public func makeIterator() -> Iterator { Iterator(self) }

    /// The number of values an iteration visits, known beforehand.
    @inlinable public var underestimatedCount: Int { count }
}
