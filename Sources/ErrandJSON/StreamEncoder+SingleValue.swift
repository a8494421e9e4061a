/// The encoder as a single-value container.
extension StreamEncoder: SingleValueEncodingContainer {
    func encodeNil() throws {
        beginScalar()
        sink.write("null")
    }

    func encode(_ value: Bool) throws {
        beginScalar()
        write(value)
    }

    func encode(_ value: String) throws {
        beginScalar()
        write(value)
    }

    func encode(_ value: Double) throws {
        beginScalar()
        try session.write(floating: value, to: sink) { self.codingPath }
    }

    func encode(_ value: Float) throws {
        beginScalar()
        try session.write(floating: value, to: sink) { self.codingPath }
    }

    /// Writes the text of a number unchanged.
    func encode(numberText: String) {
        beginScalar()
        var text = numberText
        text.withUTF8 { sink.write($0) }
    }

    /// Writes a value as it is.
    func encode(json: JSON) {
        beginScalar()
        JSONPrinter.print(json, to: sink, style: .init(escapesSlashes: escapesSlashes))
    }

    private func integer(_ value: some FixedWidthInteger) {
        beginScalar()
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

    func encode<T: Encodable>(_ value: T) throws {
        beginScalar()
        if try directly(value, { self.codingPath }) { return }
        // The inner encoder has the same coding path, so the wrapper does not appear in it.
        let inner = StreamEncoder(
            session, stream: stream, parent: parent, key: key, position: position,
            keepsKeys: session.keepsKeys(of: T.self))
        try inner.encodeWhole(value, session.record(of: T.self))
    }
}
