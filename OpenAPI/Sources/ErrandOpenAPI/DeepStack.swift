import Foundation

/// A thread with a large stack: types are planned one inside the other, and documents have chains of thousands.
enum DeepStack {
    /// The size of the stack in bytes; memory is used for what is in use.
    private static let size = 1 << 30

    /// Runs a function on such a thread, and waits for its result.
    static func run<Value>(_ body: @escaping () -> Value) -> Value {
        let done = DispatchSemaphore(value: 0)
        // Only the thread uses both until it signals its end.
        nonisolated(unsafe) let body = body
        nonisolated(unsafe) var result: Value?
        let thread = Thread {
            result = body()
            done.signal()
        }
        thread.stackSize = size
        thread.start()
        while true {
            done.wait()
            if let result { return result }
        }
    }
}
