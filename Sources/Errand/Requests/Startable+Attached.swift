public import ErrandHTTP

extension Startable where Self: BaseRequest {
    /// Attaches closures to the next run, however it is started; members of a batch, a chain or a graph keep theirs.
    ///
    /// Called on the actor of the request, then released.
    @discardableResult
    nonisolated public func attach(
        success: @escaping (Self) -> Void,
        failure: @escaping (Self, RequestError) -> Void = { _, _ in }
    ) -> Self {
        attachedSuccess = { request in
            if let request = request as? Self { success(request) }
        }
        attachedFailure = { request, error in
            if let request = request as? Self { failure(request, error) }
        }
        return self
    }

    /// Reports the progress of the next run on the main actor: at most every 100 ms, and the last value before the
    /// end.
    ///
    ///     Upload(file).onProgress { upload, progress in bar.value = progress.fractionSent ?? 0 }
    ///         .start { upload in … }
    ///
    /// For a run that the main actor starts with closures, or awaits with `send()` or `value()`; the closure is released after
    /// the run. It is not called for runs on other actors and queues, and for streams and pages:
    /// ``RequestTask/onProgress(every:bytes:_:)`` and ``RequestTask/progress`` report the progress of any run.
    @discardableResult
    nonisolated public func onProgress(
        _ closure: @escaping @MainActor (Self, TransferProgress) -> Void
    ) -> Self {
        attachedProgress = { request, progress in
            if let request = request as? Self { closure(request, progress) }
        }
        return self
    }
}
