#if os(Linux)
    import ErrandCore
    import Synchronization

    /// A transfer as its owner holds it: its methods leave a signal and a note in the mailbox.
    // @unchecked: everything but `bits` is written before the transfer is posted and then belongs to whoever has the loop's turn.
    final class CurlTransfer: Transfer, @unchecked Sendable {
        /// What other threads have asked for.
        struct Signals: OptionSet, Sendable {
            let rawValue: UInt8

            /// The owner wants the end.
            ///
            /// Never taken back.
            static let cancel = Signals(rawValue: 1)
            /// The receiver wants more.
            static let resume = Signals(rawValue: 2)
            /// The body's source has more.
            static let readable = Signals(rawValue: 4)
            /// A note is in the mailbox already.
            static let noted = Signals(rawValue: 8)
        }

        private let mailbox: Mailbox
        private let bits = Atomic<UInt8>(0)

        /// What to send.
        let request: TransportRequest
        /// The body, or why it cannot be read; let go at the end.
        var source: Result<any BodySource, RequestError>?
        /// Who listens; let go at the end.
        var receiver: (any TransferReceiver)?
        /// Who carries the transfer out while it is under way.
        var exchange: Exchange?
        /// When the transfer was made.
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

        /// The end has come.
        func ended() { mailbox.ended() }

        func cancel() { raise(.cancel) }

        func resumeReceiving() { raise(.resume) }

        /// Leaves a signal for the loop, from any thread.
        func raise(_ signal: Signals) {
            let wanted = signal.union(.noted).rawValue
            let before = Signals(
                rawValue: bits.bitwiseOr(wanted, ordering: .acquiringAndReleasing).oldValue)
            if !before.contains(.noted) { _ = mailbox.post(.attend(self)) }
        }

        /// The signals as they are.
        func signals() -> Signals { Signals(rawValue: bits.load(ordering: .acquiring)) }

        /// The signals; all but ``Signals/cancel`` are taken back.
        func takeSignals() -> Signals {
            let kept = Signals.cancel.rawValue
            return Signals(
                rawValue: bits.bitwiseAnd(kept, ordering: .acquiringAndReleasing).oldValue)
        }
    }
#endif
