#if os(Linux)
    import CLibcurl
    import Glibc
    import Testing

    @testable import ErrandCurl

    /// The connections and pauses of one transfer.
    struct ConnectionUseTests {
        @Test func openedSocketsAreRecorded() {
            var connection = ConnectionUse()
            #expect(connection.openedSockets.isEmpty)
            connection.opened(7, error: 0)
            connection.opened(9, error: EMFILE)
            #expect(connection.openedSockets == [7, 9])
            #expect(!connection.lacksResources)
        }

        @Test(arguments: [EMFILE, ENFILE, ENOBUFS, ENOMEM])
        func socketWithoutResources(error: Int32) {
            var connection = ConnectionUse()
            connection.opened(-1, error: error)
            #expect(connection.openedSockets.isEmpty)
            #expect(connection.lacksResources)
        }

        @Test func socketOfUnsupportedFamily() {
            var connection = ConnectionUse()
            connection.opened(-1, error: EAFNOSUPPORT)
            #expect(!connection.lacksResources)
        }

        @Test func protocolBelongsToTheChosenConnection() {
            var connection = ConnectionUse()
            let tls = UnsafeMutableRawPointer(bitPattern: 8)
            connection.chose(tls)
            #expect(connection.tls == tls)
            #expect(connection.ports == nil)
            let ports = ConnectionUse.Ports(local: 50_000, remote: 443)
            connection.uses(ports)
            #expect(connection.ports == ports)
            #expect(!connection.speaksHTTP2)
            connection.willSend(speaksHTTP2: true)
            #expect(connection.speaksHTTP2)
            connection.willSend(speaksHTTP2: false)
            #expect(!connection.speaksHTTP2)
        }

        @Test func resetForgetsTheConnection() {
            var connection = ConnectionUse()
            connection.opened(7, error: 0)
            connection.opened(-1, error: ENOMEM)
            connection.chose(UnsafeMutableRawPointer(bitPattern: 8))
            connection.uses(ConnectionUse.Ports(local: 50_000, remote: 443))
            connection.willSend(speaksHTTP2: true)
            connection.endHook = ConnectionHook()
            connection.reset()
            #expect(connection.openedSockets.isEmpty)
            #expect(!connection.lacksResources)
            #expect(connection.tls == nil)
            #expect(connection.ports == nil)
            #expect(!connection.speaksHTTP2)
            #expect(connection.endHook == nil)
        }

        /// libcurl takes the paused directions as a mask.
        @Test func pausedDirectionsAreLibcurlsMask() {
            #expect(PausedDirections().rawValue == CURLPAUSE_CONT)
            #expect(PausedDirections([.receiving, .sending]).rawValue == CURLPAUSE_ALL)
        }
    }
#endif
