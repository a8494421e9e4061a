import ErrandTesting
import Foundation
import TestSupport

/// The behaviour of the server for one request, and the ends that are right for it; chosen by a seed.
struct ChaosPlan: Sendable {
    /// What the server does.
    enum Fault: String, CaseIterable, Sendable {
        // Valid responses.
        case none, chunked, untilClose, closeField, silentClose, slow, interim, noContent, redirect
        case earlyResponse
        // Bytes after the end of a response.
        case twoResponses, surplusBytes, lateResponse, shortLength, bodyOfNoContent
        // Incomplete responses.
        case drop, reset, cutHead, cutBody, resetBody, cutChunks, longLength, stall, stallBody
        // Invalid responses.
        case garbage, badStatus, badField, twoLengths, badLength, bothFramings, badChunk, badCoding
        case endlessHead
    }

    /// The ends that are right.
    enum Expectation: Sendable, Equatable {
        /// A success with this body.
        case success(Data)
        /// A failure.
        case failure
        /// A success with this body, or a failure.
        case either(Data)
    }

    let id: Int
    let hop: Int
    let fault: Fault
    let method: String
    /// The delay of a cancellation; `nil` lets the request end.
    let cancellation: Duration?
    /// Whether the request has a short total time limit.
    let isHurried: Bool
    private let body: Data
    private let cut: Int

    /// - Parameters:
    ///   - id: The number of the request, which its response repeats.
    ///   - hop: 0, or 1 after a redirect.
    init(seed: UInt64, id: Int, hop: Int, faults: [Fault]) {
        var random = SeededGenerator(
            seed: seed &+ UInt64(id) &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(hop)
                &* 0xD1B5_4A32_D192_ED03)
        self.id = id
        self.hop = hop
        var fault = Bool.random(using: &random) ? Fault.none : faults.randomElement(using: &random)
        if hop > 0, fault == .redirect { fault = Fault.none }
        self.fault = fault ?? .none
        method = ["GET", "GET", "PUT", "POST"].randomElement(using: &random) ?? "GET"
        cancellation =
            Int.random(in: 0..<20, using: &random) == 0
            ? .microseconds(Int.random(in: 0..<5_000, using: &random)) : nil
        isHurried = Int.random(in: 0..<30, using: &random) == 0
        let length = Int.random(in: 1...3_000, using: &random)
        let mark = "response \(id).\(hop) "
        body = Data(String(repeating: mark, count: length / mark.utf8.count + 1).utf8)
        cut = Int.random(in: 1..<body.count, using: &random)
    }

    /// The ends that are right, without a cancellation or a time limit.
    var expectation: Expectation {
        switch fault {
        case .none, .chunked, .untilClose, .closeField, .silentClose, .slow, .interim,
            .twoResponses, .surplusBytes, .lateResponse:
            .success(body)
        case .shortLength: .success(body.prefix(cut))
        case .noContent, .bodyOfNoContent: .success(Data())
        // The connection may break while the body is sent.
        case .earlyResponse: .either(body)
        case .redirect, .drop, .reset, .cutHead, .cutBody, .resetBody, .cutChunks, .longLength,
            .stall,
            .stallBody, .garbage, .badStatus, .badField, .twoLengths, .badLength, .bothFramings,
            .badChunk,
            .badCoding, .endlessHead:
            .failure
        }
    }

    /// The response of the server.
    ///
    /// - Parameter pause: Makes a gate that opens a moment later.
    func response(never: Gate, pause: () -> Gate) -> LoopbackResponse {
        let length = "Content-Length: \(body.count)\r\n"
        let complete = head(length) + body
        switch fault {
        case .none: return sent(complete)
        case .chunked:
            return .chunked([body.prefix(cut), body.dropFirst(cut)].map { Data($0) })
        case .untilClose: return sent(head("Connection: close\r\n") + body).closing()
        case .closeField: return sent(head("Connection: close\r\n" + length) + body).closing()
        case .silentClose: return sent(complete).closing()
        case .slow:
            let pieces = [complete.prefix(10), complete.dropFirst(10).prefix(cut)]
            return LoopbackResponse(
                steps: pieces.flatMap { [.bytes(Data($0)), .hold(pause())] }
                    + [.bytes(complete.dropFirst(10 + cut))])
        case .interim:
            return sent(complete).preceded(byInterim: 103, headers: ["Link": "<a>"])
                .preceded(byInterim: 100)
        case .noContent: return sent(head("", 204))
        case .redirect:
            return sent(head("Location: /\(id)/1\r\nContent-Length: 0\r\n", 307))
        case .earlyResponse: return sent(head("Connection: close\r\n" + length) + body).closing()
        case .twoResponses: return sent(complete + complete)
        case .surplusBytes: return sent(complete + body)
        case .lateResponse:
            // Of a connection that the response closes, or it could be taken for the next response.
            return LoopbackResponse(
                steps: [
                    .bytes(head("Connection: close\r\n" + length) + body), .hold(pause()),
                    .bytes(complete),
                ], keepsConnection: false)
        case .shortLength: return sent(head("Content-Length: \(cut)\r\n") + body)
        case .bodyOfNoContent: return sent(head("", 204) + body)
        case .drop: return .dropped
        case .reset: return .reset
        case .cutHead: return sent(complete).cut(afterBytes: min(cut, 30))
        case .cutBody: return sent(complete).cut(afterBytes: complete.count - cut)
        case .resetBody: return sent(complete).reset(afterBytes: complete.count - cut)
        case .cutChunks: return .truncatedChunked([body])
        case .longLength:
            return sent(head("Content-Length: \(body.count + cut)\r\n") + body).closing()
        case .stall: return .silence(until: never)
        case .stallBody:
            return LoopbackResponse(
                steps: [.bytes(complete.dropLast(cut)), .hold(never), .close])
        case .garbage:
            return sent(Data((0..<64).map { UInt8(($0 * 37 + cut) & 0xFF) }) + body).closing()
        case .badStatus: return sent(Data("HTTP/1.1 2x0 OK\r\n\(length)\r\n".utf8) + body).closing()
        case .badField: return sent(head(length + "no colon\r\n") + body).closing()
        case .twoLengths: return sent(head(length + "Content-Length: \(cut)\r\n") + body).closing()
        case .badLength: return sent(head("Content-Length: 1x\r\n") + body).closing()
        case .bothFramings:
            return sent(head(length + "Transfer-Encoding: chunked\r\n") + body).closing()
        case .badChunk:
            return sent(head("Transfer-Encoding: chunked\r\n") + Data("zz\r\n".utf8) + body)
                .closing()
        case .badCoding: return sent(head(length + "Content-Encoding: gzip\r\n") + body).closing()
        case .endlessHead:
            let fields = String(repeating: "X-Field: \(body.count)\r\n", count: 40_000)
            return sent(head(fields) + body).closing()
        }
    }

    private func head(_ fields: String, _ status: Int = 200) -> Data {
        Data("HTTP/1.1 \(status) Status\r\nX-Id: \(id)\r\n\(fields)\r\n".utf8)
    }

    private func sent(_ bytes: Data) -> LoopbackResponse {
        LoopbackResponse(steps: [.bytes(bytes)])
    }
}
