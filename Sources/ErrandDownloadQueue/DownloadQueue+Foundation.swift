#if Foundation || URLSession || canImport(Darwin)
    import ErrandCore
    import ErrandHTTP
    // Foundation: Progress
    public import Foundation

    extension DownloadQueue {
        /// The progress of the queue as a Foundation `Progress`, for views and progress trees.
        ///
        /// The unit is the byte. It is indeterminate while ``progress`` has no total; when a further download starts, its
        /// total increases. `throughputKey` and `estimatedTimeRemainingKey` of its `userInfo` are rate and time left.
        /// Pausing and resuming it changes ``isPaused``; it cannot be cancelled.
        ///
        /// It is updated from any thread, at most ten times a second, and when no download can run any more. The queue does
        /// not retain it.
        public func foundationProgress() -> Progress {
            let progress = Progress(
                cancel: nil, suspend: { [weak self] in self?.isPaused = true },
                resume: { [weak self] in self?.isPaused = false })
            let handler = QueueProgressHandler(every: .milliseconds(100), bytes: nil, agent.clock) {
                [weak progress] in progress?.take($0)
            }
            if add(handler, offersIf: { _ in true }) { handler.call() }
            return progress
        }
    }
#else
    extension DownloadQueue {
        /// The progress of the queue as a Foundation `Progress`; needs the package trait Foundation.
        @available(
            *, unavailable,
            message:
                "Enable the package trait Foundation in Package.swift: .package(url: \"…/errand.git\", …, traits: [\"Foundation\"])"
        )
        public func foundationProgress() -> Never { preconditionFailure() }
    }
#endif
