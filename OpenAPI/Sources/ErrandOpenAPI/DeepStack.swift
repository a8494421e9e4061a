import Foundation

/// A thread with a large stack: types are planned one inside the other, and documents have chains of thousands.
enum DeepStack {
    /// The size of the stack in bytes; memory is used for what is in use.
    private static let size = 1 << 30
    /// The size below which the caller's own stack is as good.
    private static let smallest = 16 << 20

    private final class Work {
        let body: () -> Void

        init(body: @escaping () -> Void) { self.body = body }
    }

    /// Runs a function on such a thread, and waits for its result.
    ///
    /// If the process may not have so much memory, as with `ulimit -v`, the stack is smaller.
    static func run<Value>(_ body: () -> Value) -> Value {
        withoutActuallyEscaping(body) { body in
            var result: Value?
            let work = Work { result = body() }
            var size = size
            while !run(work, stackSize: size) {
                size /= 2
                if size < smallest {
                    work.body()
                    break
                }
            }
            guard let result else { preconditionFailure("The thread ran the function.") }
            return result
        }
    }

    /// Returns false if the system cannot create the thread.
    private static func run(_ work: Work, stackSize: Int) -> Bool {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, stackSize)
        #if canImport(Darwin)
            var thread: pthread_t?
        #else
            var thread = pthread_t()
        #endif
        let status = pthread_create(
            &thread, &attributes,
            { context in
                // Not optional on Apple platforms.
                let context: UnsafeMutableRawPointer? = context
                if let context { Unmanaged<Work>.fromOpaque(context).takeUnretainedValue().body() }
                return nil
            }, Unmanaged.passUnretained(work).toOpaque())
        guard status == 0 else { return false }
        #if canImport(Darwin)
            if let thread { pthread_join(thread, nil) }
        #else
            pthread_join(thread, nil)
        #endif
        return true
    }
}
