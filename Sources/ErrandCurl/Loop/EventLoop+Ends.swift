#if os(Linux)
    import Dispatch
    import ErrandTransport

    // The ends of transfers.
    extension EventLoop {
        /// Records that a complete response arrived from the request's origin.
        func noteOrigin(of request: TransportRequest) { origins.add(request.url, request.options) }

        /// Queues the end of a transfer; its receiver is notified within this turn.
        func queueEnd(_ receiver: any TransferReceiver, _ end: consuming TransferEnd) {
            ends.append((receiver, end))
        }

        /// Reports all ends of a turn.
        ///
        /// Several ends are reported from a thread of the pool. Each end resumes a task, and
        /// resuming tasks from this thread would wake a pool thread for each of them. The ends of a
        /// caller's turn are reported there too, because receivers must not run on that caller's
        /// thread.
        func reportEnds(isCallerTurn: Bool = false) {
            guard !ends.isEmpty else { return }
            closeSuspectConnections()
            if ends.count == 1, !isCallerTurn {
                ends[0].receiver.didEnd(ends[0].end)
            } else {
                DispatchQueue.global().async { [ends] in
                    for (receiver, end) in ends { receiver.didEnd(end) }
                }
            }
            ends.removeAll()
        }
    }
#endif
