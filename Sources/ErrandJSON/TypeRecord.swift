import Synchronization

/// What a decoding session knows about a type it has met.
struct TypeRecord {
    let type: ObjectIdentifier
    /// The type as a collection, if it is one; remembered, because the cast is slow.
    let collection: (any TapeCollection.Type)?
    /// Whether Foundation's strategies decode it.
    let isFoundations: Bool
    /// Whether values of the type are known to keep containers.
    var keepsContainers = false
    /// A decoder for the type's next value.
    var spare: TapeDecoder?

    /// The types of which a value has kept a container, in this process.
    private static let keepers = Mutex<Set<ObjectIdentifier>>([])

    init<T>(_ type: T.Type, isFoundations: Bool) {
        let identifier = ObjectIdentifier(type)
        self.type = identifier
        self.isFoundations = isFoundations
        collection = type as? any TapeCollection.Type
        keepsContainers = TypeRecord.keepers.withLock { $0.contains(identifier) }
    }

    static func noteKeptContainer(_ record: UnsafeMutablePointer<TypeRecord>) {
        record.pointee.keepsContainers = true
        let type = record.pointee.type
        keepers.withLock { _ = $0.insert(type) }
    }
}

extension DecodingSession {
    /// What is known about a type; the record lives as long as the session.
    @inline(__always)
    func record<T>(of type: T.Type) -> UnsafeMutablePointer<TypeRecord> {
        let wanted = ObjectIdentifier(type)
        for record in records where record.pointee.type == wanted { return record }
        return addRecord(of: type)
    }

    @inline(never)
    private func addRecord<T>(of type: T.Type) -> UnsafeMutablePointer<TypeRecord> {
        let wanted = ObjectIdentifier(type)
        if let record = rareRecords[wanted] { return record }
        let record = UnsafeMutablePointer<TypeRecord>.allocate(capacity: 1)
        record.initialize(to: TypeRecord(type, isFoundations: foundation.handles(type)))
        // The first types are found by looking at each, the others by a table.
        if records.count < 32 { records.append(record) } else { rareRecords[wanted] = record }
        return record
    }

    /// Frees the spare decoders, which hold the session.
    func finish() {
        for record in records { record.pointee.spare = nil }
        for record in rareRecords.values { record.pointee.spare = nil }
    }

    func destroyRecords() {
        for record in records + Array(rareRecords.values) {
            record.deinitialize(count: 1)
            record.deallocate()
        }
    }
}
