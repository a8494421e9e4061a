/// A decoder or an encoder that is used again for the next value of the same type.
///
/// Whether somebody has kept the coder or its keyed container is seen by their reference counts
/// when the value is done.
protocol ReusedCoder: AnyObject {
    /// The protocol of the standard library's collections, see `TypeRecord`.
    associatedtype CollectionType

    /// Whether the coder is used again for other values.
    var isReused: Bool { get set }
    /// The keyed container given out, what gives it out again, and the type of its keys.
    var container: AnyObject? { get set }
    var makeContainer: ContainerMaker<AnyObject>? { get set }
    var containerKey: ObjectIdentifier? { get set }

    /// Holds the coder around from now on, or does without.
    func hold(parent isHeld: Bool)
    /// Whether nobody else has the container that was given out.
    func isContainerFree() -> Bool
}

extension ReusedCoder {
    typealias Record = UnsafeMutablePointer<TypeRecord<CollectionType, Self>>

    /// Takes back a coder whose value is done; `coder` must be the caller's only copy.
    @inline(__always)
    static func release(_ coder: inout Self, to record: Record) {
        guard coder.isReused else { return }
        if isKnownUniquelyReferenced(&coder), coder.isContainerFree() {
            record.pointee.spare = coder
        } else {
            coder.leave(record)
        }
    }

    /// Gives the coder up to whoever has kept it or its container.
    @inline(never)
    private func leave(_ record: Record) {
        hold(parent: true)
        isReused = false
        if !isContainerFree() {
            // Nothing tells when the container goes, so the coder stays for good. That happens
            // once for a type and session at work: its later values get containers that hold
            // their coders.
            record.pointee.noteKeptContainer()
            _ = Unmanaged.passRetained(self)
        }
        container = nil
        containerKey = nil
        makeContainer = nil
    }

    /// Keeps the keyed container of this value, to give it out for the next one too.
    func give(_ object: AnyObject, withKeysOf type: Any.Type) {
        container = object
        makeContainer = ContainerMaker(object)
        containerKey = ObjectIdentifier(type)
    }
}
