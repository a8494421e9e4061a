import ErrandHTTP
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// The article Error codes: a section for each code, with an error that a real situation causes.
@Suite("Real peers: error codes", .limited)
struct ErrorCodesTests {
    private static let article = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Sources/Errand/Errand.docc/ErrorCodes.md")

    @Test func eachCodeHasACauseAnExampleAndARemedy() async throws {
        let situations = try ErrorSituations()
        try await situations.server.start()
        let text = try String(contentsOf: Self.article, encoding: .utf8)
        var sections = text.components(separatedBy: "\n### ")
        #expect(
            sections.dropFirst().map { $0.prefix { $0 != "\n" } }.map(String.init).sorted()
                == RequestError.Code.all.map(\.description).sorted())
        for (index, section) in sections.enumerated().dropFirst() {
            let name = String(section.prefix { $0 != "\n" })
            guard let code = RequestError.Code.all.first(where: { $0.description == name }) else {
                continue
            }
            let error = try await situations.error(code)
            #expect(error?.code == code, "\(name): \(error?.description ?? "no error")")
            let parts = section.components(separatedBy: "```")
            #expect(parts.count == 3, "\(name) needs a cause, an example and a remedy")
            guard let error, parts.count == 3 else { continue }
            #expect(section.contains("``RequestError/Code/\(name)``"))
            #expect(section.contains("(\(code.number))"), "\(name) is \(code.number)")
            let example = "text\n\(Self.wrapped(situations.text(error)))\n"
            #expect(parts[1] == example, "\(name)")
            sections[index] = [parts[0], example, parts[2]].joined(separator: "```")
        }
        await situations.server.stop()
        if ProcessInfo.processInfo.environment["ERRAND_WRITE_ERRORS"] != nil {
            try sections.joined(separator: "\n### ").write(
                to: Self.article, atomically: true, encoding: .utf8)
        }
    }

    /// The text in lines of at most 100 columns.
    private static func wrapped(_ text: String) -> String {
        var lines = [""]
        for word in text.split(separator: " ") {
            let longer =
                lines[lines.count - 1].isEmpty ? "\(word)" : "\(lines[lines.count - 1]) \(word)"
            if longer.count <= 100 {
                lines[lines.count - 1] = longer
            } else {
                lines.append("\(word)")
            }
        }
        return lines.joined(separator: "\n")
    }
}

extension ErrorSituations {
    /// The error of the situation of a code.
    func error(_ code: RequestError.Code) async throws -> RequestError? {
        for situation in [building, waiting, connecting, receiving, checking, files, others] {
            if let error = try await situation(code) { return error }
        }
        return nil
    }
}
