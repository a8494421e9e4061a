#if Redis
    import CHiredis

    /// Commands that are sent together over one connection, and their replies.
    ///
    /// `finish` is called once, by the reader of the connection, by the loop's thread if the
    /// connection ends, or by the sender if it could not be sent.
    // @unchecked: the replies are changed under the lock of the link only, after the batch was sent.
    final class RedisBatch: @unchecked Sendable {
        typealias Outcome = Result<[RedisReply], RedisFailure>

        let bytes: [UInt8]
        let count: Int
        private var replies: [RedisReply] = []
        private let finish: @Sendable (Outcome) -> Void

        init(_ commands: [RedisCommand], finish: @escaping @Sendable (Outcome) -> Void) {
            count = commands.count
            bytes = commands.count == 1 ? commands[0].bytes : commands.flatMap(\.bytes)
            self.finish = finish
        }

        /// Adds a reply; true if it was the last.
        func add(_ reply: RedisReply) -> Bool {
            replies.append(reply)
            return replies.count == count
        }

        /// Passes the replies to the caller.
        func succeed() { finish(.success(replies)) }

        /// Passes a failure to the caller.
        func fail(_ failure: RedisFailure) { finish(.failure(failure)) }
    }

    /// The parser of one connection: hiredis' reader.
    ///
    /// Used by the reader of the connection only.
    struct RedisParser: ~Copyable {
        private let reader: UnsafeMutablePointer<redisReader>
        private var bounds = ReplyBounds()
        /// The reason why bytes were not accepted; thrown after the replies before them.
        private var excess: RedisFailure?

        /// The bytes of strings that were received since the connection began, with wraparound.
        var textBytes: UInt64 { bounds.textBytes }

        /// `nil` if there is no memory.
        init?() {
            guard let reader = redisReaderCreate() else { return nil }
            self.reader = reader
        }

        deinit { redisReaderFree(reader) }

        /// Adds received bytes.
        mutating func feed(_ bytes: UnsafeRawBufferPointer) throws(RedisFailure) {
            do throws(RedisFailure) { try bounds.check(bytes) } catch { excess = error }
            guard redisReaderFeed(reader, bytes.baseAddress, bounds.accepted) == REDIS_OK else {
                throw failure
            }
        }

        /// The next complete reply; `nil` if more bytes are needed.
        func next() throws(RedisFailure) -> RedisReply? {
            var reply: UnsafeMutableRawPointer?
            guard redisReaderGetReply(reader, &reply) == REDIS_OK else { throw failure }
            guard let reply else {
                if let excess { throw excess }
                return nil
            }
            defer { freeReplyObject(reply) }
            return RedisReply(reply.assumingMemoryBound(to: redisReply.self))
        }

        private var failure: RedisFailure {
            let message = withUnsafeBytes(of: reader.pointee.errstr) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            return RedisFailure(kind: .invalidReply, message: message)
        }
    }
#endif
