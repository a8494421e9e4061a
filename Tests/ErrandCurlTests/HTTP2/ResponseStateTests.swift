#if os(Linux)
    import ErrandTransport
    import HTTPTypes
    import Testing

    @testable import ErrandCurl

    /// The meaning of a final response for its transfer.
    struct ResponseStateTests {
        private func state(_ options: TransportOptions = TransportOptions()) -> ResponseState {
            var state = ResponseState()
            state.reset(options)
            return state
        }

        /// Feeds a head line by line and returns it.
        private func feed(
            _ state: inout ResponseState, _ lines: [String]
        ) throws -> HeadParser.Head {
            var cache = FieldCache()
            for line in lines + [""] {
                let bytes = Array((line + "\r\n").utf8)
                let event = bytes.withUnsafeBytes { state.head.feed($0, cache: &cache) }
                if case .final(let head) = event { return head }
            }
            throw Incomplete()
        }

        private struct Incomplete: Error {}

        private func begin(
            _ state: inout ResponseState, _ lines: [String], to method: HTTPMethod = .get,
            isRepeated: Bool = false
        ) throws -> ResponseState.Start {
            let head = try feed(&state, lines)
            return state.begin(head, to: method, isRepeated: isRepeated)
        }

        private func receive(_ state: inout ResponseState, _ text: String) -> RequestError? {
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 1)
            defer { buffer.deallocate() }
            return Array(text.utf8).withUnsafeBytes { bytes in
                state.body.deliver(bytes, by: buffer) { _ in true }
            }
        }

        @Test func bodyWithLength() throws {
            var state = state()
            #expect(!state.isComplete)
            let start = try begin(&state, ["HTTP/1.1 200 OK", "Content-Length: 3"])
            #expect(start.hasBody)
            #expect(!start.endsWithConnection)
            #expect(start.contentLength == 3)
            #expect(start.fault == nil)
            #expect(!state.isRefusal)
            #expect(!state.isHTTP2)
            #expect(!state.isComplete)
            #expect(receive(&state, "abc") == nil)
            #expect(state.isComplete)
            #expect(!state.isCompleteEarly)
        }

        @Test func bodyThatEndsWithItsConnection() throws {
            var state = state()
            let start = try begin(&state, ["HTTP/1.1 200 OK"])
            #expect(start.hasBody)
            #expect(start.endsWithConnection)
            #expect(start.contentLength == nil)
        }

        @Test func chunkedBodyHasItsOwnEnd() throws {
            var state = state()
            let start = try begin(&state, ["HTTP/1.1 200 OK", "Transfer-Encoding: chunked"])
            #expect(start.hasBody)
            #expect(!start.endsWithConnection)
            #expect(start.contentLength == nil)
        }

        @Test(arguments: [(204, HTTPMethod.get), (304, .get), (200, .head)])
        func responseWithoutBody(status: Int, method: HTTPMethod) throws {
            var state = state()
            let start = try begin(
                &state, ["HTTP/1.1 \(status) X", "Content-Length: 3"], to: method)
            #expect(!start.hasBody)
            #expect(!start.endsWithConnection)
            #expect(start.contentLength == nil)
            #expect(state.isComplete)
        }

        @Test func lengthOfEncodedBodyIsNotReported() throws {
            var state = state()
            let start = try begin(
                &state,
                ["HTTP/1.1 200 OK", "Content-Length: 30", "Content-Encoding: gzip"])
            #expect(start.hasBody)
            #expect(start.contentLength == nil)
            #expect(start.fault == nil)
        }

        @Test func bodyBeyondItsLimitIsAFault() throws {
            var options = TransportOptions()
            options.maximumBodyBytes = 2
            var state = state(options)
            let start = try begin(&state, ["HTTP/1.1 200 OK", "Content-Length: 3"])
            #expect(start.fault?.code == .bodyTooLarge)
            #expect(start.hasBody)
        }

        @Test(arguments: [(200, false), (299, false), (300, true), (417, true), (503, true)])
        func statusFrom300Refuses(status: Int, isRefusal: Bool) throws {
            var state = state()
            _ = try begin(&state, ["HTTP/1.1 \(status) X", "Content-Length: 0"])
            #expect(state.isRefusal == isRefusal)
            #expect(!state.isRefusalWithoutLength)
        }

        @Test(arguments: [
            (["HTTP/2 503 X"], true), (["HTTP/2 200 X"], false), (["HTTP/1.1 503 X"], false),
            (["HTTP/2 503 X", "Content-Length: 9"], false),
        ])
        func refusalWithoutLength(lines: [String], isExpected: Bool) throws {
            var state = state()
            _ = try begin(&state, lines)
            #expect(state.isRefusalWithoutLength == isExpected)
            #expect(state.isHTTP2 == lines[0].hasPrefix("HTTP/2"))
        }

        /// libcurl discards the body of a response after which it repeats the request.
        @Test func repetitionByLibcurlEndsTheResponse() throws {
            var state = state()
            let start = try begin(
                &state, ["HTTP/1.1 417 X", "Content-Length: 3"], isRepeated: true)
            #expect(!start.hasBody)
            #expect(state.ignoresRepetition)
            #expect(state.isCompleteEarly)
            #expect(state.isComplete)
        }

        @Test(arguments: 0..<8)
        func libcurlRepeatsOnlyAfterFailedExpectation(bits: Int) {
            let isRepeated = ResponseState.isRepeated(
                status: bits & 1 == 0 ? 400 : 417, expectsContinue: bits & 2 != 0,
                isUploadUnfinished: bits & 4 != 0)
            #expect(isRepeated == (bits == 7))
        }

        @Test func hiddenLengthEndsTheBody() throws {
            var state = state()
            _ = try begin(
                &state,
                ["HTTP/1.1 200 OK", "Transfer-Encoding: identity", "Content-Length: 3"])
            #expect(!state.isCompleteEarly)
            #expect(receive(&state, "abc") == nil)
            #expect(state.isCompleteEarly)
        }

        @Test func resetForgetsTheResponse() throws {
            var state = state()
            _ = try begin(&state, ["HTTP/2 417 X"], isRepeated: true)
            state.reset(TransportOptions())
            #expect(!state.isHTTP2)
            #expect(!state.isRefusal)
            #expect(!state.ignoresRepetition)
            #expect(!state.isComplete)
            #expect(!state.head.hasBegun)
        }
    }
#endif
