import Foundation
import Testing

/// The capability table in `Errand.docc/Transports.md` agrees with the contract suite.
@Suite("Capability table in Transports.md")
struct CapabilityTableTests {
    private var table: String {
        let rows = Capability.allCases.map { capability in
            let marks = [Capability.ofCurl, Capability.ofURLSession].map {
                $0.contains(capability) ? "yes" : "no"
            }
            return "| \(capability.summary) | \(marks[0]) | \(marks[1]) |"
        }
        return (["| | `CurlTransport` | `URLSessionTransport` on Linux |", "|---|---|---|"] + rows)
            .joined(separator: "\n")
    }

    @Test func tableMatchesTheCapabilities() throws {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        let page = try String(
            contentsOf: root.appendingPathComponent("Sources/Errand/Errand.docc/Transports.md"),
            encoding: .utf8)
        #expect(page.contains(table), "Transports.md should contain this table:\n\(table)")
    }
}
