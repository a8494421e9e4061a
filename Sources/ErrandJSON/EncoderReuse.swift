// Performance annotations: decision 17.

/// Reuse of encoders and keyed containers, as for decoders in `DecoderReuse.swift`.
extension EncodingSession {
    /// Encodes the top-level value.
    func encode<T: Encodable>(_ value: T) throws {
        let record = record(of: T.self)
        var top: StreamEncoder
        if let spare = record.pointee.spare.take() {
            spare.restart(below: nil, key: nil, position: 0)
            top = spare
        } else {
            top = StreamEncoder(
                self, stream: stream, parent: nil, key: nil, keepsKeys: keepsKeys(of: T.self))
            top.isReused = !record.pointee.keepsContainers
        }
        defer { StreamEncoder.release(&top, to: record) }
        try top.encodeTop(value, record)
    }
}

extension StreamEncoder: ReusedCoder {
    typealias CollectionType = any StreamCollection.Type

    func isContainerFree() -> Bool { container == nil || isKnownUniquelyReferenced(&container) }

    /// Returns a child encoder for a value of the record's type.
    ///
    /// Return it with `ReusedCoder.release`.
    @inline(__always)
    func spareChild<T>(
        _ record: Record, _ type: T.Type, key: (any CodingKey)?, position: Int
    ) -> StreamEncoder {
        if let spare = record.pointee.spare, spare.stream === stream {
            record.pointee.spare = nil
            spare.restart(below: self, key: key, position: position)
            return spare
        }
        return newChild(record, type, key: key, position: position)
    }

    private func newChild<T>(
        _ record: Record, _ type: T.Type, key: (any CodingKey)?, position: Int
    ) -> StreamEncoder {
        let child = StreamEncoder(
            session, stream: stream, parent: self, key: key, position: position,
            keepsKeys: session.keepsKeys(of: type))
        guard !record.pointee.keepsContainers else { return child }
        child.isReused = true
        child.hold(parent: false)
        return child
    }

    /// The keyed container of this object; the container of an earlier value is reused if there is
    /// one.
    func keyedContainer<Key: CodingKey>(_ type: Key.Type) -> KeyedEncodingContainer<Key> {
        if containerKey == ObjectIdentifier(type), let container, open(.object) {
            return ContainerMaker.container(container, as: KeyedEncodingContainer<Key>.self)
        }
        return newContainer(type)
    }

    private func newContainer<Key: CodingKey>(_ type: Key.Type) -> KeyedEncodingContainer<Key> {
        let target = opened(.object)
        // The same layout check as in `TapeDecoder.newContainer`.
        let isReference =
            MemoryLayout<KeyedEncodingContainer<PlainKey>>.size == MemoryLayout<AnyObject>.size
        guard isReused, target === self, container == nil, isReference else {
            return KeyedEncodingContainer(StreamKeyedContainer<Key>(holding: target))
        }
        let made = KeyedEncodingContainer(StreamKeyedContainer<Key>(of: self))
        give(unsafeBitCast(made, to: AnyObject.self), withKeysOf: type)
        return made
    }
}
