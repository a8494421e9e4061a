#if Redis
    public import ErrandCore
    public import ErrandSystem

    extension RedisResponseStore {
        /// The random bytes of all stores with this prefix on the server; the first of them makes them.
        ///
        /// - Throws: ``RequestError/Code/storeFailed`` if the server cannot be used.
        public func digestKey() async throws(RequestError) -> Data {
            let name = RedisCommand.Part.text(keys.digestKey)
            do throws(RedisFailure) {
                // Without a time to live: entries of any age need it.
                _ = try await client.perform(
                    RedisCommand("SET", name, .data(DigestKey.random()), "NX"))
                let reply = try await client.perform(RedisCommand("GET", name))
                guard let bytes = reply.bytes, bytes.count >= DigestKey.count else {
                    // A value of another program: SET NX keeps it.
                    return DigestKey.ofProcess
                }
                return bytes
            } catch {
                guard error.isWrongType else { throw failed(error) }
                return DigestKey.ofProcess
            }
        }
    }
#endif
