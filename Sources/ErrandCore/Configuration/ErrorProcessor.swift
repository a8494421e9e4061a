/// Changes errors on their way to the caller, as a type of its own (row CFG-7).
///
/// The same as a closure in `Configuration.errorProcessors`, where it goes by ``Configuration/add(_:)``. Cancelled
/// requests take no part. What failed attempts look like that are sent again is seen by `retryDecider`.
public protocol ErrorProcessor: Sendable {
    /// Returns the error to deliver, this one or another.
    ///
    /// - Parameter attempt: How many attempts were made; 0 when nothing was sent.
    func process(_ error: RequestError, attempt: Int) async -> RequestError
}

extension Configuration {
    /// Adds an error processor behind those that are there.
    public mutating func add(_ processor: some ErrorProcessor) {
        errorProcessors.append { await processor.process($0, attempt: $0.attempts) }
    }
}
