import ErrandTransport
import TestSupport
import Testing

@testable import ErrandCurl

@Suite(.limited) struct ConnectionTableTests {
    private let connection = Response.Connection(host: "a.example", port: 80, isSecure: false)
    private let other = Response.Connection(host: "b.example", port: 80, isSecure: false)

    private func take(_ table: inout ConnectionTable) -> [String] {
        table.takeClosed().map { "\($0.connection.host) \($0.reason)" }
    }

    @Test func firstReasonCounts() {
        var table = ConnectionTable()
        table.opened(connection, on: 5)
        table.willClose(5, because: .cancelled)
        table.willClose(5, because: .failed)
        table.closed(5)
        #expect(table.hasClosed)
        #expect(take(&table) == ["a.example cancelled"])
        #expect(!table.hasClosed)
    }

    /// The number of a socket may be used again in the same turn.
    @Test func reportsAreSeparate() {
        var table = ConnectionTable()
        table.opened(connection, on: 5)
        table.closed(5)
        table.opened(other, on: 5)
        #expect(table.connection(on: 5)?.id == other.id)
        #expect(take(&table) == ["a.example unknown"])
        table.closed(5)
        #expect(take(&table) == ["b.example unknown"])
    }

    @Test func onlyEstablishedConnectionsAreReported() {
        var table = ConnectionTable()
        table.willClose(5, because: .failed)
        table.closed(5)
        #expect(!table.hasClosed && take(&table).isEmpty)
        table.isShuttingDown = true
        table.opened(connection, on: 6)
        table.closed(6)
        table.closed(6)
        #expect(take(&table) == ["a.example shutDown"])
    }
}
