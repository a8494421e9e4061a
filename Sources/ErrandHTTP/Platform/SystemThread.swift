import ErrandSystem

/// Threads of the system, for work that blocks.
package enum SystemThread {
    private final class Work: Sendable {
        let body: @Sendable () -> Void

        init(body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs work on a new thread.
    ///
    /// - Parameter stackSize: The size of its stack in bytes; `nil` is the system's default.
    /// - Returns: False if the system cannot create a thread; the work does not run then.
    package static func start(
        stackSize: Int? = nil, _ body: @escaping @Sendable () -> Void
    ) -> Bool {
        // Its initializer belongs to a module of C that differs between systems.
        let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
        pthread_attr_init(attributes)
        defer {
            pthread_attr_destroy(attributes)
            attributes.deallocate()
        }
        pthread_attr_setdetachstate(attributes, Int32(PTHREAD_CREATE_DETACHED))
        if let stackSize { pthread_attr_setstacksize(attributes, stackSize) }
        let reference = Unmanaged.passRetained(Work(body: body))
        var thread = noThread
        let result = pthread_create(
            &thread, attributes,
            { context in
                // Not optional on Apple platforms.
                let context: UnsafeMutableRawPointer? = context
                guard let context else { return nil }
                Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body()
                return nil
            }, reference.toOpaque())
        if result != 0 { reference.release() }
        return result == 0
    }
}
