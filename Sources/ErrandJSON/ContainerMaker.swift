// Performance annotations: decision 17.

/// Returns a stored keyed container of the standard library without knowing its concrete type.
///
/// `KeyedDecodingContainer` and `KeyedEncodingContainer` are generic and resilient. Code that
/// copies one looks up its type metadata for each object, which is a tenth of the time to encode
/// small objects. A closure called through a type parameter writes its result directly into the
/// caller's storage, so the container is stored and copied as an `AnyObject` and no metadata is
/// needed.
struct ContainerMaker<Container> {
    private let make: () -> Container

    /// Returns the container as a value of type `Wanted`.
    ///
    /// - Parameter type: The concrete type of the stored container. It is not checked.
    @inline(__always)
    func callAsFunction<Wanted>(as type: Wanted.Type) -> Wanted {
        unsafeBitCast(self, to: ContainerMaker<Wanted>.self).make()
    }
}

extension ContainerMaker where Container == AnyObject {
    /// Creates a factory for `container`, which the caller must keep alive.
    init(_ container: AnyObject) {
        // Unretained: the reference count must show whether user code has kept the container.
        let container = Unmanaged.passUnretained(container)
        make = { container.takeUnretainedValue() }
    }
}
