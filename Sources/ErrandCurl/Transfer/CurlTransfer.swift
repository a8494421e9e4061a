#if os(Linux)
    import ErrandTransport
    import Synchronization

    /// The caller's handle of a transfer; its methods set a signal and post a message to the
    /// mailbox.
    // @unchecked: after posting, only the thread that runs the loop's turn uses the variables.
    final class CurlTransfer: Transfer, @unchecked Sendable {
        /// The signals from other threads to the loop.
        struct Signals: OptionSet, Sendable {
            let rawValue: UInt8

            /// The caller cancelled the transfer.
            ///
            /// Never cleared.
            static let cancel = Signals(rawValue: 1)
            /// The receiver accepts bytes again.
            static let resume = Signals(rawValue: 2)
            /// The body source has more bytes.
            static let readable = Signals(rawValue: 4)
            /// A message about this transfer is already in the mailbox.
            static let posted = Signals(rawValue: 8)
        }

        private let mailbox: Mailbox
        private let bits = Atomic<UInt8>(0)

        /// The request to send.
        let request: TransportRequest
        /// The body source, or the error that prevents reading it; released at the end.
        var source: Result<any BodySource, RequestError>?
        /// The receiver; released at the end.
        var receiver: (any TransferReceiver)?
        /// The easy handle that carries out the transfer while it is active.
        var easyHandle: EasyHandle?
        /// The engine's part of the transfer while it is active.
        var exchange: HTTP1Transfer?
        /// The time at which the transfer was created.
        let created = EventLoop.readClock()

        init(
            _ request: TransportRequest, source: Result<any BodySource, RequestError>?,
            receiver: any TransferReceiver, mailbox: Mailbox
        ) {
            self.request = request
            self.source = source
            self.receiver = receiver
            self.mailbox = mailbox
        }

        /// Records that the transfer has ended.
        func ended() { mailbox.ended() }

        func cancel() { raise(.cancel) }

        func resumeReceiving() { raise(.resume) }

        /// Sets a signal for the loop, from any thread.
        func raise(_ signal: Signals) {
            let wanted = signal.union(.posted).rawValue
            let before = Signals(
                rawValue: bits.bitwiseOr(wanted, ordering: .acquiringAndReleasing).oldValue)
            if !before.contains(.posted) { _ = mailbox.post(.attend(self)) }
        }

        /// Returns the signals without clearing them.
        func signals() -> Signals { Signals(rawValue: bits.load(ordering: .acquiring)) }

        /// Returns the signals and clears all except ``Signals/cancel``.
        func takeSignals() -> Signals {
            let kept = Signals.cancel.rawValue
            return Signals(
                rawValue: bits.bitwiseAnd(kept, ordering: .acquiringAndReleasing).oldValue)
        }
    }
#endif
