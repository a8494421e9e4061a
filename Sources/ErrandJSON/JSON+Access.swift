// Performance annotations: decision 17.

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

    /// Whether the value exists; true for `null`, false for `absent`.
    @inlinable public var exists: Bool { tape.kind(at: index) != .absent }

    /// Whether this is the value `null`; false for `absent`.
    @inlinable public var isNull: Bool { tape.kind(at: index) == .null }

    /// The text if this is a string; nil for other kinds.
    @inlinable public var string: String? {
        switch tape.kind(at: index) {
        case .string, .escaped: tape.string(at: index)
        default: nil
        }
    }

    /// The value if this is `true` or `false`; nil for other kinds, including numbers.
    @inlinable public var bool: Bool? {
        switch tape.kind(at: index) {
        case .true: true
        case .false: false
        default: nil
        }
    }

    // MARK: - Numbers

    /// The number as `Int`, in any notation (`3`, `3.0`, `3e0`); nil if it is not an integer or
    /// does not fit.
    @inlinable public var int: Int? { tape.int(at: index) }

    /// The number as `Int64`; nil if it is not an integer or does not fit.
    @inlinable public var int64: Int64? { tape.int64(at: index) }

    /// The number as `UInt64`; nil if it is not an integer or does not fit.
    @inlinable public var uint64: UInt64? { tape.uint64(at: index) }

    /// The number as the given integer type; nil if it is not an integer or does not fit.
    public func integer<T: FixedWidthInteger>(_ type: T.Type) -> T? {
        tape.integer(at: index, as: type)
    }

    /// The nearest `Double`; nil for other kinds and for numbers beyond its range.
    @inlinable public var double: Double? { tape.double(at: index) }

    /// The text of the number as in the document, with every digit; nil for other kinds.
    public var number: String? {
        switch tape.kind(at: index) {
        case .integer, .real: String(decoding: tape.text(at: index), as: UTF8.self)
        default: nil
        }
    }

    // MARK: - Containers

    /// The number of elements of an array or of members of an object; 0 for other kinds.
    @inlinable public var count: Int { isContainer ? Word.count(tape.words[index + 1]) : 0 }

    /// The elements of an array; nil for other kinds.
    public var array: [JSON]? {
        tape.kind(at: index) == .array ? elements : nil
    }

    /// The members of an object in document order; nil for other kinds.
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

    /// The keys of an object in document order; empty for other kinds.
    public var keys: [String] { object?.map(\.key) ?? [] }

    /// The value of the first member with this key; `absent` if there is none.
    ///
    /// The time is proportional to the number of members before it.
    @inlinable public subscript(key: String) -> JSON {
        JSON(tape: tape, index: tape.place(of: key, inObjectAt: index))
    }

    /// The element of an array at a position from 0; `absent` if there is none.
    ///
    /// The time is proportional to the position. To visit all elements, iterate.
    @inlinable public subscript(position: Int) -> JSON {
        JSON(tape: tape, index: tape.place(of: position, inArrayAt: index))
    }

    @inlinable
    var isContainer: Bool { tape.words[index] >> 60 >= Word.Kind.array.rawValue }

    private var elements: [JSON] {
        var elements: [JSON] = []
        elements.reserveCapacity(count)
        for element in self { elements.append(element) }
        return elements
    }
}

extension JSON: Sequence {
    /// An iterator over the elements of an array or the values of an object; empty for other kinds.
    public struct Iterator: IteratorProtocol, Sendable {
        @usableFromInline let tape: Tape
        @usableFromInline var place: Int
        @usableFromInline let stop: Int
        @usableFromInline let step: Int

        @inlinable
        init(_ json: JSON) {
            tape = json.tape
            (place, stop, step) = json.tape.extent(of: json.index)
        }

        /// Returns the next value; nil after the last.
        @inlinable @inline(__always)
        public mutating func next() -> JSON? {
            guard place < stop else { return nil }
            let index = place &+ step
            place = tape.end(of: index)
            return JSON(tape: tape, index: index)
        }
    }

    /// Returns an iterator over the elements of an array or the values of an object.
    @inlinable
    public func makeIterator() -> Iterator { Iterator(self) }

    /// The exact number of values that an iteration visits.
    @inlinable public var underestimatedCount: Int { count }
}
