import ErrandHTTP
import ErrandJSON

@testable import ErrandCore

/// The elements that a parser finds in the chunks of a body, in a form that can be compared.
struct StreamElements: Equatable {
    /// A parser, in the order of the first byte of an input.
    enum Kind: CaseIterable {
        case lines, replacedLines, rawLines, jsonLines, sequence, elements, items, events
    }

    private typealias Input = UnsafeRawBufferPointer

    /// The elements, and the errors after which the parser continues.
    var elements: [String] = []
    /// The last error.
    var failure: String?
    /// The state of the parser of server-sent events.
    var lastEventID = ""
    var reconnectionTime: Duration?

    init(_ kind: Kind, _ chunks: [ArraySlice<UInt8>], limit: Int) {
        switch kind {
        case .lines, .replacedLines, .rawLines: readLines(kind, chunks, limit)
        case .jsonLines:
            var parser = JSONLinesParser(maximumLineBytes: limit)
            read(chunks) { input throws(RequestError) in
                try parser.next(Tree.self, in: &input).map { "\($0)" }
            } end: { () throws(RequestError) in
                try parser.end(Tree.self).map { "\($0)" }
            }
        case .sequence:
            var parser = JSONSequenceParser(maximumTextBytes: limit)
            read(chunks) { input throws(RequestError) in
                try parser.next(Tree.self, in: &input)?.get().description
            } end: { () throws(RequestError) in
                try parser.end(Tree.self)?.get().description
            }
        case .elements: readElements([], chunks, limit)
        case .items: readElements(["items"], chunks, limit)
        case .events:
            var parser = ServerSentEvent.Parser(maximumEventBytes: limit)
            read(chunks) { input throws(RequestError) in
                try parser.next(in: &input).map {
                    "\(NaiveEventStream.Event(type: $0.type, data: $0.data, id: $0.id))"
                }
            } end: { () throws(RequestError) in
                nil
            }
            lastEventID = parser.lastEventID
            reconnectionTime = parser.reconnectionTime
        }
    }

    private mutating func readLines(_ kind: Kind, _ chunks: [ArraySlice<UInt8>], _ limit: Int) {
        var parser = LineParser(maximumLineBytes: limit)
        let invalid: LineParser.InvalidUTF8 = kind == .lines ? .reject : .replace
        read(chunks) { input throws(RequestError) in
            kind == .rawLines
                ? try parser.next(in: &input) { "\(Array($0))" }
                : try parser.nextText(in: &input, invalid: invalid)
        } end: { () throws(RequestError) in
            kind == .rawLines
                ? try parser.end { "\(Array($0))" } : try parser.endText(invalid: invalid)
        }
    }

    private mutating func readElements(
        _ names: [String], _ chunks: [ArraySlice<UInt8>], _ limit: Int
    ) {
        var parser = JSONElementScanner(
            path: JSONElementPath(names: names), maximumElementBytes: limit)
        read(chunks) { input throws(RequestError) in
            try parser.next(in: &input) { "\(Array($0))" }
        } end: { () throws(RequestError) in
            try parser.end()
            return nil
        }
    }

    /// Reads all chunks and the end; errors of one element are elements.
    private mutating func read(
        _ chunks: [ArraySlice<UInt8>],
        next: (inout Input) throws(RequestError) -> String?,
        end: () throws(RequestError) -> String?
    ) {
        for chunk in chunks {
            // A copy of its own memory, so that AddressSanitizer finds reads outside of it.
            let isOver = Array(chunk).withUnsafeBytes { bytes in
                var input = UnsafeRawBufferPointer(rebasing: bytes[...])
                while true {
                    do throws(RequestError) {
                        guard let element = try next(&input) else { break }
                        elements.append(element)
                    } catch {
                        // A parser that cannot continue repeats its error.
                        if error.message == failure { return true }
                        elements.append("! \(error.code): \(error.message)")
                        failure = error.message
                    }
                }
                precondition(input.isEmpty, "The input is not used up.")
                return false
            }
            if isOver { return }
        }
        while true {
            do throws(RequestError) {
                guard let element = try end() else { return }
                elements.append(element)
            } catch {
                elements.append("! \(error.code): \(error.message)")
                failure = error.message
                return
            }
        }
    }
}
