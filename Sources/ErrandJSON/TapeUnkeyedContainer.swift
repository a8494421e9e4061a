// Performance annotations: decision 17.

/// An unkeyed container that decodes the items of an array.
struct TapeUnkeyedContainer: UnkeyedDecodingContainer {
    private let decoder: TapeDecoder
    private(set) var currentIndex = 0
    private var place: Int

    init(_ decoder: TapeDecoder) throws {
        guard decoder.words[decoder.index] >> 60 == Word.Kind.array.rawValue else {
            throw decoder.session.mismatch([Any].self, at: decoder.index, decoder.codingPath)
        }
        self.decoder = decoder
        place = decoder.index + 2
    }

    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { total }
    var isAtEnd: Bool { currentIndex >= total }

    private var total: Int { Word.count(decoder.words[decoder.index + 1]) }

    private func path() -> [any CodingKey] { decoder.path(PlainKey(index: currentIndex)) }

    /// The index of the next value.
    ///
    /// - Throws: `DecodingError.valueNotFound` for `type` at the end of the array.
    @inline(__always)
    private func next<T>(_ type: T.Type) throws -> Int {
        guard currentIndex < total else { throw atEnd(type) }
        return place
    }

    @inline(__always)
    private mutating func advance() {
        place = decoder.end(of: place)
        currentIndex &+= 1
    }

    private func atEnd<T>(_ type: T.Type) -> DecodingError {
        .valueNotFound(
            type, .init(codingPath: path(), debugDescription: "The array has no more items."))
    }

    mutating func decodeNil() throws -> Bool {
        guard decoder.isNull(at: try next(Any?.self)) else { return false }
        advance()
        return true
    }

    // MARK: - Any type

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let value = try decoder.decode(
            type, at: try next(type), key: PlainKey(index: currentIndex))
        advance()
        return value
    }

    mutating func decodeIfPresent<T: Decodable>(_ type: T.Type) throws -> T? {
        if isAtEnd { return nil }
        return try decodeNil() ? nil : try decode(type)
    }

    // MARK: - Nested containers

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        let container = try child(KeyedDecodingContainer<Nested>.self).container(keyedBy: type)
        advance()
        return container
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let container = try child((any UnkeyedDecodingContainer).self).unkeyedContainer()
        advance()
        return container
    }

    mutating func superDecoder() throws -> any Decoder {
        let decoder = try child((any Decoder).self)
        advance()
        return decoder
    }

    private func child<T>(_ type: T.Type) throws -> TapeDecoder {
        TapeDecoder(decoder, try next(type), key: PlainKey(index: currentIndex))
    }

    // MARK: - Scalars

    mutating func decode(_ type: Bool.Type) throws -> Bool {
        let value = try decoder.session.bool(at: try next(type), path)
        advance()
        return value
    }

    mutating func decode(_ type: String.Type) throws -> String {
        let value = try decoder.session.string(at: try next(type), path)
        advance()
        return value
    }

    mutating func decode(_ type: Double.Type) throws -> Double {
        let value = try decoder.session.double(at: try next(type), path)
        advance()
        return value
    }

    mutating func decode(_ type: Float.Type) throws -> Float {
        let value = try decoder.session.float(at: try next(type), path)
        advance()
        return value
    }

    @inline(__always)
    private mutating func integer<T: FixedWidthInteger>(_ type: T.Type) throws -> T {
        let value = try decoder.session.integer(type, at: try next(type), path)
        advance()
        return value
    }

    mutating func decode(_ type: Int.Type) throws -> Int { try integer(type) }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
    mutating func decode(_ type: Int128.Type) throws -> Int128 { try integer(type) }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try integer(type) }
}
