import Foundation
import Testing

/// The table in `docs/transports.md` says what the contract suite checks.
@Suite("docs/transports.md")
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

    @Test func tableIsTheSame() throws {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        let page = try String(
            contentsOf: root.appendingPathComponent("docs/transports.md"), encoding: .utf8)
        #expect(page.contains(table), "docs/transports.md should hold this table:\n\(table)")
    }
}
