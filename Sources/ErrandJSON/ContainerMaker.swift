// Performance annotations: decision 17.

/// Returns a stored keyed container of the standard library without knowing its concrete type.
///
/// `KeyedDecodingContainer` and `KeyedEncodingContainer` are generic and resilient. Code that
/// copies one looks up its type metadata for each object, which is a tenth of the time to encode
/// small objects. A closure called through a type parameter writes its result directly into the
/// caller's storage, so the container is stored and copied as an `AnyObject` and no metadata is
/// needed.
struct ContainerMaker<Container> {
    /// Returns its argument.
    ///
    /// It captures nothing and consumes the argument, so that a call counts one reference, that of
    /// the result.
    private let make: (consuming AnyObject) -> Container
}

extension ContainerMaker where Container == AnyObject {
    /// Returns `object` as a value of type `Wanted`.
    ///
    /// - Parameter type: The concrete type of the stored container. It is not checked.
    @inline(__always)
    static func container<Wanted>(_ object: AnyObject, as type: Wanted.Type) -> Wanted {
        unsafeBitCast(ContainerMaker { $0 }, to: ContainerMaker<Wanted>.self).make(object)
    }
}
