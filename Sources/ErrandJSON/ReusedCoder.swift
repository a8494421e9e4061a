/// A decoder or an encoder that is reused for the next value of the same type.
///
/// After each value, the reference counts show whether user code has kept the coder or its keyed
/// container (decision 11).
protocol ReusedCoder: AnyObject {
    /// The metatype of the protocol for the standard library's collections, see `TypeRecord`.
    associatedtype CollectionType

    /// Whether the coder is reused for other values.
    var isReused: Bool { get set }
    /// The keyed container for reuse, and the type of its keys.
    var container: AnyObject? { get set }
    var containerKey: ObjectIdentifier? { get set }

    /// Retains or releases the parent coder.
    func hold(parent isHeld: Bool)
    /// Whether user code holds no reference to the container.
    func isContainerFree() -> Bool
}

extension ReusedCoder {
    typealias Record = UnsafeMutablePointer<TypeRecord<CollectionType, Self>>

    /// Stores a coder for reuse after its value is done.
    ///
    /// `coder` must be the caller's only reference.
    static func release(_ coder: inout Self, to record: Record) {
        guard coder.isReused else { return }
        if isKnownUniquelyReferenced(&coder), coder.isContainerFree() {
            record.pointee.spare = coder
        } else {
            coder.detach(record)
        }
    }

    /// Excludes the coder from reuse, because user code has kept it or its container.
    private func detach(_ record: Record) {
        hold(parent: true)
        isReused = false
        if !isContainerFree() {
            // The container does not retain the coder and its release cannot be observed, so the
            // coder is leaked on purpose. This happens once per type and active session: later
            // values of the type get containers that retain their coders.
            record.pointee.noteKeptContainer()
            _ = Unmanaged.passRetained(self)
        }
        container = nil
        containerKey = nil
    }

    /// Stores the keyed container of this value for reuse by the next one.
    func give(_ object: AnyObject, withKeysOf type: Any.Type) {
        container = object
        containerKey = ObjectIdentifier(type)
    }
}
