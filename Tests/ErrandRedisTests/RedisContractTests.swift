#if Redis && os(Linux)
    import ErrandRedis
    import ErrandTesting
    import TestSupport
    import Testing

    /// The contract of `ResponseStore`.
    @Suite(.limited)
    struct RedisContractTests {
        @Test(arguments: [true, false], ResponseStoreContract.checks)
        func storeFulfilsTheContract(
            hasMemory: Bool, check: ResponseStoreContract.Check
        ) async throws {
            let server = try await RedisServer()
            try await check.run {
                try hasMemory ? server.store() : server.storeWithoutMemory()
            }
        }

        /// With entries in memory, a store sees the writes of others only when the notice arrives.
        @Test(arguments: ResponseStoreContract.sharedChecks)
        func storesOfOneServerFulfilTheContract(check: ResponseStoreContract.Check) async throws {
            let server = try await RedisServer()
            try await check.run { try server.storeWithoutMemory() }
        }
    }
#endif
