import Errand
import ErrandProgressLine
import Foundation

/// Writes results: lines for people, or JSON for programs.
@MainActor
struct Report {
    /// The line of JSON of one file.
    private struct Record: Encodable {
        var url: String
        var file: String?
        var bytes: Int64?
        var resumedOffset: Int64?
        var kept: Bool?
        var seconds: Double?
        var digests: [String: String]?
        var error: String?
        var code: String?
    }

    let isJSON: Bool
    let display: ProgressDisplay?

    func finished(_ url: String, _ file: DownloadedFile, _ line: ProgressDisplay.Line?) {
        var notes = [file.file.lastPathComponent]
        if file.isKept { notes.append("kept") }
        if file.resumedOffset > 0 { notes.append("continued") }
        if !file.digests.isEmpty {
            notes.append(
                "verified: " + file.digests.map(\.algorithm.rawValue).joined(separator: ", "))
        }
        line?.finish(notes.joined(separator: ", "))
        guard isJSON else { return }
        write(
            Record(
                url: url, file: file.path, bytes: file.bytes, resumedOffset: file.resumedOffset,
                kept: file.isKept ? true : nil, seconds: file.duration / .seconds(1),
                digests: Dictionary(
                    file.digests.map { ($0.algorithm.rawValue, $0.hex) }, uniquingKeysWith: { $1 }))
        )
    }

    func failed(_ url: String, _ error: RequestError, _ line: ProgressDisplay.Line?) {
        if let line { line.fail(error.message) } else { note("\(url): \(error.message)") }
        if isJSON { write(Record(url: url, error: error.message, code: "\(error.code)")) }
    }

    /// Writes a line to the standard error.
    func note(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }

    private func write(_ record: Record) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let line = try? encoder.encode(record) else { return }
        FileHandle.standardOutput.write(line + Data("\n".utf8))
    }
}

extension DownloadedFile {
    /// Whether the file existed and was kept: only a file that was received has a duration.
    var isKept: Bool { duration == .zero }
}
