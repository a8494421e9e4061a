#if Redis
    public import ErrandCore
    import ErrandHTTP

    extension RedisResponseStore: StoredResponse.FetchLeasing {
        /// Requests the permission to load the response of a key.
        ///
        /// If another process has it, this waits until that process has released it, at most
        /// ``Configuration-swift.struct/fetchWait``. A lease ends by itself after
        /// ``Configuration-swift.struct/fetchLease``.
        public func acquireFetchLease(for key: CacheKey) async -> StoredResponse.FetchLease {
            let name = keys.lease(EntryID(key))
            let token = Self.newName()
            do throws(RedisFailure) {
                let reply = try await client.perform(
                    RedisCommand(
                        "SET", .text(name), .text(token), "NX", "PX",
                        .number(max(configuration.fetchLease.wholeMilliseconds, 1))))
                if reply != .null { return .granted(token: token) }
                return try await waitForEnd(of: name) ? .released : .unavailable
            } catch {
                // A value of another type is not a lease.
                return .unavailable
            }
        }

        /// Asks for the lease at growing intervals; false after the maximum time.
        private func waitForEnd(of name: String) async throws(RedisFailure) -> Bool {
            let end = RedisTime.now + configuration.fetchWait.clamped.wholeNanoseconds
            var interval: Int64 = 10_000_000
            while RedisTime.now < end {
                let rest = max(end - RedisTime.now, 0)
                do {
                    // Waiters must not ask at the same moment.
                    let pause = Int64(Double(min(interval, rest)) * .random(in: 0.75...1))
                    try await Task.sleep(for: .nanoseconds(pause))
                } catch { return false }
                let reply = try await client.perform(RedisCommand("EXISTS", .text(name)))
                if reply == .integer(0) { return true }
                interval = min(interval * 3 / 2, 100_000_000)
            }
            return false
        }

        /// Ends a lease; does nothing if another process has it by now.
        public func releaseFetchLease(_ token: String, for key: CacheKey) async {
            // If it fails, the lease ends by itself.
            _ = try? await client.perform(
                StoreScript.release, [.text(keys.lease(EntryID(key))), .text(token)])
        }
    }
#endif
