#if Foundation || URLSession || canImport(Darwin)
    import ErrandHTTP
    // Foundation: Progress
    public import Foundation

    extension RequestTask {
        /// The task's progress as a Foundation `Progress`, for views and progress trees.
        ///
        /// The unit is the byte, both directions together. It is indeterminate while the total of a download is unknown.
        /// During an upload, the response counts as one byte until its length is known.
        /// `throughputKey` of its `userInfo` is the rate of the sent bytes during an upload, then that of the received
        /// bytes; `estimatedTimeRemainingKey` is the time left. Cancelling, pausing and resuming it does the same to the
        /// task. It is updated from any thread, at most ten times a second, and is complete before a success is delivered.
        nonisolated public func foundationProgress() -> Progress {
            let progress = Progress(
                cancel: { [weak self] in self?.cancel() },
                suspend: { [weak self] in self?.suspend() },
                resume: { [weak self] in self?.resume() })
            members?.forwardProgress()
            hub.listen(every: .milliseconds(100), callsAtOnce: true) { progress.take($0) }
            return progress
        }
    }
#else
    extension RequestTask {
        /// The task's progress as a Foundation `Progress`; needs the package trait Foundation.
        @available(
            *, unavailable,
            message:
                "Enable the package trait Foundation in Package.swift: .package(url: \"…/errand.git\", …, traits: [\"Foundation\"])"
        )
        nonisolated public func foundationProgress() -> Never { preconditionFailure() }
    }
#endif
