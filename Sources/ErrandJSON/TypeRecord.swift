// Performance annotations: decision 17.

import Synchronization

/// A session's cached information about a type.
///
/// `Collection` is the metatype of the protocol for the standard library's collections, `Coder` the
/// class that codes one value.
struct TypeRecord<Collection, Coder: AnyObject> {
    let type: ObjectIdentifier
    /// The type as a collection, or nil; cached because the cast is slow.
    let collection: Collection?
    /// Whether `FoundationDecoding` or `FoundationEncoding` codes the type.
    let isFoundations: Bool
    /// Whether user code has kept a container of the type.
    private(set) var keepsContainers: Bool
    /// A coder for reuse by the type's next value.
    var spare: Coder?

    init<T>(_ type: T.Type, isFoundations: Bool) {
        self.type = ObjectIdentifier(type)
        self.isFoundations = isFoundations
        collection = type as? Collection
        keepsContainers = RetainedContainerTypes.contain(ObjectIdentifier(type))
    }

    mutating func noteKeptContainer() {
        keepsContainers = true
        RetainedContainerTypes.insert(type)
    }
}

/// The types, in this process, of which user code has kept a container.
private enum RetainedContainerTypes {
    private static let types = Mutex<Set<ObjectIdentifier>>([])

    static func contain(_ type: ObjectIdentifier) -> Bool { types.withLock { $0.contains(type) } }
    static func insert(_ type: ObjectIdentifier) { types.withLock { _ = $0.insert(type) } }
}

/// The type records of a session; the owner must call `destroy`.
struct TypeRecords<Collection, Coder: AnyObject> {
    typealias Record = UnsafeMutablePointer<TypeRecord<Collection, Coder>>

    private var common: [Record] = []
    private var rare: [ObjectIdentifier: Record] = [:]

    /// The record of a type, or nil; a record is valid as long as the session.
    @inline(__always)
    func find<T>(_ type: T.Type) -> Record? {
        let wanted = ObjectIdentifier(type)
        for record in common where record.pointee.type == wanted { return record }
        return rare.isEmpty ? nil : rare[wanted]
    }

    mutating func add<T>(_ type: T.Type, isFoundations: Bool) -> Record {
        let record = Record.allocate(capacity: 1)
        record.initialize(to: TypeRecord(type, isFoundations: isFoundations))
        // Up to 32 types are searched linearly, further types in a hash table.
        if common.count < 32 {
            common.append(record)
        } else {
            rare[ObjectIdentifier(type)] = record
        }
        return record
    }

    /// Releases the spare coders that `isKept` rejects.
    ///
    /// Returns the number of remaining coders; nil if there are too many types for reuse.
    func keepSpares(where isKept: (Coder) -> Bool) -> Int? {
        var count = 0
        for record in common {
            guard let spare = record.pointee.spare else { continue }
            if isKept(spare) { count &+= 1 } else { record.pointee.spare = nil }
        }
        return rare.isEmpty ? count : nil
    }

    /// Releases the spare coders, which retain their session.
    func dropSpares() {
        for record in common { record.pointee.spare = nil }
        for record in rare.values { record.pointee.spare = nil }
    }

    func destroy() {
        for record in common + Array(rare.values) {
            record.deinitialize(count: 1)
            record.deallocate()
        }
    }
}
