// Performance annotations: decision 17.

/// An unkeyed container that writes the items of an array.
struct StreamUnkeyedContainer: UnkeyedEncodingContainer {
    private let encoder: StreamEncoder

    init(_ encoder: StreamEncoder) { self.encoder = encoder }

    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { encoder.count }

    private var session: EncodingSession { encoder.session }
    private var sink: ByteSink { encoder.sink }

    /// Writes an item; after an error it is removed again.
    @inline(__always)
    private func item(_ write: (Int) throws -> Void) throws {
        let position = encoder.count
        let mark = encoder.beginItem()
        do {
            try write(position)
        } catch {
            encoder.takeBack(to: mark)
            throw error
        }
    }

    private func path(_ position: Int) -> [any CodingKey] {
        codingPath + [PlainKey(index: position)]
    }

    func encodeNil() throws {
        _ = encoder.beginItem()
        sink.write("null")
    }

    func encode(_ value: Bool) throws {
        _ = encoder.beginItem()
        encoder.write(value)
    }

    func encode(_ value: String) throws {
        _ = encoder.beginItem()
        encoder.write(value)
    }

    func encode(_ value: Double) throws {
        try item { position in
            try session.write(floating: value, to: sink) { path(position) }
        }
    }

    func encode(_ value: Float) throws {
        try item { position in
            try session.write(floating: value, to: sink) { path(position) }
        }
    }

    func encode<T: Encodable>(_ value: T) throws {
        try item { position in
            try encoder.encode(value, key: nil, position: position)
        }
    }

    @inline(__always)
    private func integer(_ value: some FixedWidthInteger) {
        _ = encoder.beginItem()
        sink.write(integer: value)
    }

    func encode(_ value: Int) throws { integer(value) }
    func encode(_ value: Int8) throws { integer(value) }
    func encode(_ value: Int16) throws { integer(value) }
    func encode(_ value: Int32) throws { integer(value) }
    func encode(_ value: Int64) throws { integer(value) }
    func encode(_ value: Int128) throws { integer(value) }
    func encode(_ value: UInt) throws { integer(value) }
    func encode(_ value: UInt8) throws { integer(value) }
    func encode(_ value: UInt16) throws { integer(value) }
    func encode(_ value: UInt32) throws { integer(value) }
    func encode(_ value: UInt64) throws { integer(value) }
    func encode(_ value: UInt128) throws { integer(value) }

    // MARK: - Nested containers

    private func later() -> StreamEncoder {
        let position = encoder.count
        _ = encoder.beginItem()
        return encoder.laterEncoder(key: nil, position: position)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) -> KeyedEncodingContainer<Nested> {
        later().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { later().unkeyedContainer() }

    func superEncoder() -> any Encoder { later() }
}
