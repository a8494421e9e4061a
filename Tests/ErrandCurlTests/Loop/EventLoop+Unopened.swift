#if os(Linux)
    @testable import ErrandCurl

    extension EventLoop {
        /// A loop without a thread and without libcurl's multi handle, for values that need a loop.
        static func unopened(poll: Int32 = -1) -> EventLoop {
            let configuration = CurlConfiguration()
            return EventLoop(
                mailbox: Mailbox(configuration: configuration, isCounting: false),
                configuration: configuration, poll: poll, wakeUp: -1)
        }
    }
#endif
