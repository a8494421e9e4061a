#if os(Linux)
    import Testing

    @testable import ErrandCurl

    /// The sockets that their ports identify.
    struct SocketTableTests {
        private var table = SocketTable(poll: -1)

        private mutating func connect(_ socket: Int32, from port: Int32 = 40_000) {
            table.opened(socket, as: .secure)
            table.connected(socket, from: port, to: 443)
        }

        private var found: Int32? { table.socket(from: 40_000, to: 443) }

        /// Two connections from other addresses, or to other addresses, can have the same ports.
        @Test mutating func sharedPortsIdentifyNoSocket() {
            connect(5)
            #expect(found == 5)
            connect(7)
            #expect(found == nil)
            connect(9)
            table.closed(9)
            #expect(found == nil)
            table.closed(5)
            #expect(found == 7)
            table.closed(7)
            #expect(found == nil)
        }

        @Test mutating func numberThatIsUsedAgainHasItsNewPorts() {
            connect(5)
            connect(5, from: 40_001)
            #expect(found == nil)
            #expect(table.socket(from: 40_001, to: 443) == 5)
            connect(7)
            #expect(found == 7)
        }
    }
#endif
