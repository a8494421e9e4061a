#if Redis && os(Linux)
    import Testing

    @testable import ErrandRedis

    /// Replies that would need too much memory, time or stack are refused before they are parsed.
    @Suite(.timeLimit(.minutes(1)))
    struct ReplyBoundsTests {
        private func failure(_ text: String, pieces: Int = .max) -> RedisFailure? {
            var bounds = ReplyBounds()
            let bytes = Array(text.utf8)
            do throws(RedisFailure) {
                for start in stride(from: 0, to: bytes.count, by: min(pieces, bytes.count)) {
                    let piece = Array(bytes[start..<min(bytes.count, start + pieces)])
                    let result = piece.withUnsafeBytes { piece in
                        Result { () throws(RedisFailure) in try bounds.check(piece) }
                    }
                    try result.get()
                }
                return nil
            } catch { return error }
        }

        @Test(arguments: [1, 2, 3, 1000])
        func repliesAreAccepted(pieces: Int) {
            let replies = [
                "+OK\r\n", "-ERR a b\r\n", ":-12\r\n", "$-1\r\n", "*-1\r\n", "*0\r\n", "$0\r\n\r\n",
                "+a\nb\r\r\n", "$5\r\na\r\nb*\r\n", "*3\r\n:1\r\n*2\r\n$1\r\nx\r\n*0\r\n$-1\r\n",
                "$2\r\n\n\n\r\n",
                "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n",
            ]
            #expect(failure(replies.joined(), pieces: pieces) == nil)
            #expect(failure((replies + replies.reversed()).joined(), pieces: pieces) == nil)
        }

        @Test(arguments: [
            "+" + String(repeating: "x", count: 70_000),
            ":" + String(repeating: "1", count: 70_000),
            "$" + String(repeating: "1", count: 70_000), "*99999999\r\n", "*4294967296\r\n",
            "*99999999999999999999999\r\n",
            "$99999999999999999999\r\n",
            String(repeating: "*1\r\n", count: 9), String(repeating: "*1\r\n", count: 20_000),
            "*1000000\r\n*1000000\r\n", "%1\r\n", "~1\r\n", ">1\r\n", "_\r\n", "=3\r\n", "(1\r\n",
            "HTTP/1.1",
            "$1x\r\n", "*+1\r\n", "$1\n", "$1\r2\r\n",
            String(repeating: "+a\n", count: 30_000),
        ])
        func excessiveRepliesAreRefused(text: String) {
            #expect(failure(text)?.kind == .invalidReply)
            if text.utf8.count < 100_000 {
                #expect(failure(text, pieces: 1)?.kind == .invalidReply)
            }
        }

        @Test func limitsHoldForEachReply() {
            let list = "*600000\r\n" + String(repeating: ":1\r\n", count: 600_000)
            #expect(failure(list + list + list) == nil)
        }
    }
#endif
