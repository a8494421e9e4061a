import ErrandHTTP

/// The calls of one interceptor's `next`; one at a time, and none after the interceptor's return.
package struct InterceptorCallState: Sendable, Equatable {
    package enum Refusal: Sendable, Equatable { case concurrent, late }

    private var isRunning = false
    private var isClosed = false

    package init() {}

    /// Begins a call; the refusal if it may not begin.
    package mutating func begin() -> Refusal? {
        if isClosed { return .late }
        if isRunning { return .concurrent }
        isRunning = true
        return nil
    }

    /// Ends the call; returns whether the return of the interceptor waits for it.
    package mutating func end() -> Bool {
        isRunning = false
        return isClosed
    }

    /// Records the return of the interceptor; returns whether it must cancel a call and wait.
    package mutating func close() -> Bool {
        isClosed = true
        return isRunning
    }
}
