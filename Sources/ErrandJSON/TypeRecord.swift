import Synchronization

/// What a session knows about a type it has met: one session codes many values of few types.
///
/// `Collection` is the metatype of a protocol that the standard library's collections have, `Coder`
/// the class that codes one value.
struct TypeRecord<Collection, Coder: AnyObject> {
    let type: ObjectIdentifier
    /// The type as a collection, if it is one; remembered, because the cast is slow.
    let collection: Collection?
    /// Whether Foundation's strategies code it.
    let isFoundations: Bool
    /// Whether values of the type are known to keep containers.
    private(set) var keepsContainers: Bool
    /// A coder for the type's next value.
    var spare: Coder?

    init<T>(_ type: T.Type, isFoundations: Bool) {
        self.type = ObjectIdentifier(type)
        self.isFoundations = isFoundations
        collection = type as? Collection
        keepsContainers = ContainerKeepers.contain(ObjectIdentifier(type))
    }

    mutating func noteKeptContainer() {
        keepsContainers = true
        ContainerKeepers.insert(type)
    }
}

/// The types of which a value has kept a container, in this process.
private enum ContainerKeepers {
    private static let types = Mutex<Set<ObjectIdentifier>>([])

    static func contain(_ type: ObjectIdentifier) -> Bool { types.withLock { $0.contains(type) } }
    static func insert(_ type: ObjectIdentifier) { types.withLock { _ = $0.insert(type) } }
}

/// The types a session has met; whoever owns it destroys it.
struct TypeRecords<Collection, Coder: AnyObject> {
    typealias Record = UnsafeMutablePointer<TypeRecord<Collection, Coder>>

    private var common: [Record] = []
    private var rare: [ObjectIdentifier: Record] = [:]

    /// What is known about a type; the record lives as long as the session.
    @inline(__always)
    func find<T>(_ type: T.Type) -> Record? {
        let wanted = ObjectIdentifier(type)
        for record in common where record.pointee.type == wanted { return record }
        return rare.isEmpty ? nil : rare[wanted]
    }

    @inline(never)
    mutating func add<T>(_ type: T.Type, isFoundations: Bool) -> Record {
        let record = Record.allocate(capacity: 1)
        record.initialize(to: TypeRecord(type, isFoundations: isFoundations))
        // The first types are found by looking at each, the others by a table.
        if common.count < 32 {
            common.append(record)
        } else {
            rare[ObjectIdentifier(type)] = record
        }
        return record
    }

    /// Drops the spare coders that `isKept` refuses and gives how many there are then; nil if the
    /// types are too many to be remembered.
    @inline(__always)
    func keepSpares(where isKept: (Coder) -> Bool) -> Int? {
        var count = 0
        for record in common {
            guard let spare = record.pointee.spare else { continue }
            if isKept(spare) { count &+= 1 } else { record.pointee.spare = nil }
        }
        return rare.isEmpty ? count : nil
    }

    /// Frees the spare coders, which hold their session.
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
