#if Redis
    /// Decides who receives the replies of one connection: the loop's thread or a caller; pure.
    ///
    /// A reply that the loop receives reaches its caller by two thread wake-ups. A caller whose
    /// command is alone on an idle connection therefore waits for its reply itself, for a short
    /// time. If the reply is late, or if other commands follow it, the caller leaves the connection
    /// to the loop, and the next commands are not read by callers: after 16 commands a caller
    /// tries again, and after each further failure the number is doubled, up to 1,024.
    struct ReplyReading: Sendable, Equatable {
        enum Reader: Sendable, Equatable {
            /// The loop's thread, which polls the connection.
            case loop
            /// A caller; the loop does not poll the connection.
            case caller
            /// No thread, because no command is pending; the next caller reads its reply itself.
            ///
            /// The loop returns to polling at its next check, if no command has been sent until
            /// then, so that it notices when the server closes an idle connection.
            case none
        }

        private static let firstPause = 16
        private static let longestPause = 1024

        private(set) var reader = Reader.loop
        /// Whether the loop's thread is receiving just now.
        private var loopIsReading = false
        /// Whether a command was sent since the last check.
        private var wasUsed = false
        /// The commands that the loop receives before a caller reads again.
        private var commandsLeft = 0
        private var pause = firstPause

        /// What follows from a sent command.
        struct Sent: Sendable, Equatable {
            /// Whether its caller must receive the reply, and then call ``callerEnded(isIdle:)``.
            var callerReads: Bool
            /// Whether the loop must be woken, because it must poll other connections than before.
            var wakesLoop: Bool
        }

        /// A command was sent.
        ///
        /// - Parameters:
        ///   - isAlone: Whether no other command is pending, and the command was sent completely.
        ///   - mayRead: Whether the caller can wait for the reply.
        mutating func sent(isAlone: Bool, mayRead: Bool) -> Sent {
            wasUsed = true
            switch reader {
            case .caller: return Sent(callerReads: false, wakesLoop: false)
            case .none:
                let reads = isAlone && mayRead
                reader = reads ? .caller : .loop
                return Sent(callerReads: reads, wakesLoop: !reads)
            case .loop:
                commandsLeft = max(commandsLeft - 1, 0)
                guard isAlone, mayRead, !loopIsReading, commandsLeft == 0 else {
                    return Sent(callerReads: false, wakesLoop: false)
                }
                reader = .caller
                return Sent(callerReads: true, wakesLoop: true)
            }
        }

        /// The caller has received its reply or does not wait longer; whether to wake the loop.
        ///
        /// - Parameter isIdle: Whether no command is pending and the connection is intact.
        mutating func callerEnded(isIdle: Bool) -> Bool {
            guard reader == .caller else { return false }
            if isIdle {
                reader = .none
                pause = max(pause / 2, Self.firstPause)
                return false
            }
            reader = .loop
            commandsLeft = pause
            pause = min(pause * 2, Self.longestPause)
            return true
        }

        /// Whether the loop may receive now; it then calls ``loopEnded()``.
        mutating func loopBegins() -> Bool {
            loopIsReading = reader == .loop
            return loopIsReading
        }

        mutating func loopEnded() { loopIsReading = false }

        /// Gives a connection back to the loop if no command was sent since the last check.
        mutating func check() {
            if reader == .none, !wasUsed { reader = .loop }
            wasUsed = false
        }

        /// The system reports the end of the connection; a caller that receives finds it itself.
        mutating func connectionEnded() {
            if reader == .none { reader = .loop }
        }
    }
#endif
