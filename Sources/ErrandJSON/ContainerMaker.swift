/// Gives out a keyed container of the standard library again, known as the object it is.
///
/// A container's type is generic and of a layout that only the standard library knows. To copy one
/// the generic code of a coder looks up the type for every object: a tenth of the time of encoding
/// small ones. A closure that is called through a type parameter hands its result to the place
/// where it is wanted; so here the container is copied as an object, and is never looked at as what
/// it is.
struct ContainerMaker<Container> {
    private let make: () -> Container

    /// The container, known by its type.
    ///
    /// - Parameter type: Its type, of which nothing is asked.
    @inline(__always)
    func callAsFunction<Wanted>(as type: Wanted.Type) -> Wanted {
        unsafeBitCast(self, to: ContainerMaker<Wanted>.self).make()
    }
}

extension ContainerMaker where Container == AnyObject {
    /// Gives out `container`, which whoever calls keeps.
    init(_ container: AnyObject) {
        // Not held, because the references tell whether somebody has kept it.
        let container = Unmanaged.passUnretained(container)
        make = { container.takeUnretainedValue() }
    }
}
