#if os(Linux)
    import Testing

    @testable import ErrandCurl

    /// The number of reads in one call of libcurl, and the delayed end of a shared connection.
    struct SharedReadsTests {
        /// The header of a record with an alert, as TLS 1.3 sends it.
        private static let alert: [UInt8] = [23, 3, 3, 0, 19]

        private let loop: EventLoop
        private let reads: SharedReads

        init() {
            loop = .unopened()
            reads = SharedReads(of: loop)
        }

        /// Begins another call of libcurl.
        private func beginCall() {
            loop.readsInCall = 0
            loop.callNumber += 1
        }

        private func receive(_ bytes: [UInt8]) { bytes.withUnsafeBytes { reads.hasRead($0) } }

        // MARK: - Budget

        @Test func readsWithinACallAreLimited() {
            let allowed = (0..<1100).filter { _ in reads.mayRead() }
            #expect(allowed == Array(0..<1000))
            beginCall()
            #expect(reads.mayRead())
        }

        /// The limit protects the loop, so all connections share it.
        @Test func connectionsOfALoopShareTheLimit() {
            let other = SharedReads(of: loop)
            loop.readsInCall = 998
            #expect(reads.mayRead())
            #expect(other.mayRead())
            #expect(!reads.mayRead() && !other.mayRead())
        }

        // MARK: - Alerts

        /// Since TLS 1.3 only the size of an encrypted record identifies an alert.
        @Test(
            arguments: [
                ([21, 3, 3, 0, 2], true), ([21, 3, 1, 1, 0], true), ([23, 3, 3, 0, 19], true),
                ([23, 3, 3, 0, 18], false), ([23, 3, 3, 0, 20], false),
                ([23, 3, 3, 1, 19], false), ([22, 3, 3, 0, 19], false),
                ([], false), ([21, 3, 3, 0], false), ([21, 3, 3, 0, 2, 1], false),
            ] as [([UInt8], Bool)])
        func headerOfAnAlertDelaysTheNextRead(header: [UInt8], isAlert: Bool) {
            #expect(reads.mayRead())
            receive(header)
            #expect(reads.mayRead() == !isAlert)
        }

        @Test func alertIsReadInTheNextCall() {
            receive(Self.alert)
            #expect(!reads.mayRead())
            #expect(!reads.mayRead())
            beginCall()
            #expect(reads.mayRead())
            #expect(reads.mayRead())
        }

        @Test func eachAlertIsDelayed() {
            for _ in 0..<2 {
                receive(Self.alert)
                #expect(!reads.mayRead())
                beginCall()
                #expect(reads.mayRead())
            }
        }

        @Test func onlyAnotherHeaderReplacesAnAlert() {
            receive(Self.alert)
            receive([UInt8](repeating: 0, count: 19))
            #expect(!reads.mayRead())
            receive([23, 3, 3, 1, 0])
            #expect(reads.mayRead())
        }

        /// A read beyond the limit does not count as the attempt that is delayed.
        @Test func alertIsDelayedAfterTheLimit() {
            loop.readsInCall = 1000
            receive(Self.alert)
            #expect(!reads.mayRead())
            beginCall()
            #expect(!reads.mayRead())
            beginCall()
            #expect(reads.mayRead())
        }

        // MARK: - End of the connection

        @Test func endIsReadInTheNextCall() {
            #expect(reads.postponesEnd())
            #expect(reads.postponesEnd())
            beginCall()
            #expect(!reads.postponesEnd())
            #expect(!reads.postponesEnd())
            beginCall()
            #expect(!reads.postponesEnd())
        }

        /// The end follows an alert, which was delayed already.
        @Test func endAfterADelayedAlertIsReadAtOnce() {
            receive(Self.alert)
            #expect(!reads.mayRead())
            beginCall()
            #expect(reads.mayRead())
            #expect(!reads.postponesEnd())
        }

        @Test func connectionsEndIndependently() {
            let other = SharedReads(of: loop)
            #expect(reads.postponesEnd())
            beginCall()
            #expect(!reads.postponesEnd() && other.postponesEnd())
        }
    }
#endif
