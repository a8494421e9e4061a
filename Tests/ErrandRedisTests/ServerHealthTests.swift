#if Redis
    import Testing

    @testable import ErrandRedis

    @Suite struct ServerHealthTests {
        private let refusal = RedisFailure(kind: .unreachable, message: "refused")
        private let slow = RedisFailure(kind: .timedOut, message: "slow")
        private let password = RedisFailure(kind: .authentication, message: "WRONGPASS")

        private func bypass(_ message: String) -> ServerHealth.Decision {
            .bypass(RedisFailure(kind: .bypassed, message: message))
        }

        @Test func firstCommandStartsTheConnectionAndOthersWait() {
            var health = ServerHealth()
            #expect(health.request() == .wait(starts: true))
            #expect(health.request() == .wait(starts: false))
            health.connected(needsRecovery: false)
            #expect(health.request() == .send)
        }

        @Test func failureBypassesAndIsReportedOnce() {
            var health = ServerHealth()
            _ = health.request()
            #expect(health.failed(refusal, now: 0, jitter: 0.5) == true)
            #expect(health.request() == bypass("refused"))
            #expect(health.failed(refusal, now: 0, jitter: 0.5) == false)
            #expect(health.failed(slow, now: 0, jitter: 0.5) == false)
            // The user can do something else about another reason.
            #expect(health.failed(password, now: 0, jitter: 0.5) == true)
            #expect(health.request() == bypass("WRONGPASS"))
        }

        @Test func attemptsAreDelayedMoreAndMore() {
            var health = ServerHealth()
            _ = health.request()
            var delays: [Int64] = []
            for _ in 0..<10 {
                _ = health.failed(refusal, now: 1000, jitter: 0.5)
                delays.append((health.retryAt ?? 0) - 1000)
            }
            let expected: [Int64] = [50, 100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000]
            #expect(delays == expected.map { $0 * 1_000_000 })
            #expect(ServerHealth.delay(after: 1, jitter: 0) == 40_000_000)
            #expect(ServerHealth.delay(after: 99, jitter: 0.999) < 6_000_000_000)
        }

        @Test func attemptIsDueOnce() {
            var health = ServerHealth()
            _ = health.request()
            _ = health.failed(refusal, now: 0, jitter: 0.5)
            #expect(health.attemptIsDue(now: 49_999_999) == false)
            #expect(health.attemptIsDue(now: 50_000_000) == true)
            #expect(health.attemptIsDue(now: 50_000_001) == false)
            // Commands bypass the server until the attempt has succeeded.
            #expect(health.request() == bypass("refused"))
            health.connected(needsRecovery: false)
            #expect(health.request() == .send)
            #expect(health.failures == 0)
        }

        @Test func waitEndsOnlyAConnectionInProgress() {
            var health = ServerHealth()
            _ = health.request()
            #expect(health.waitExpired(slow) == true)
            #expect(health.request() == bypass("slow"))
            #expect(health.waitExpired(slow) == false)
            #expect(health.retryAt == nil)
            health.connected(needsRecovery: false)
            #expect(health.waitExpired(slow) == false)
            #expect(health.request() == .send)
        }

        @Test func closedConnectionLetsCommandsWait() {
            var health = ServerHealth()
            _ = health.request()
            health.connected(needsRecovery: false)
            health.closed()
            #expect(health.request() == .wait(starts: false))
            #expect(health.failed(refusal, now: 0, jitter: 0) == true)
        }

        @Test func nextOutageIsReportedAgain() {
            var health = ServerHealth()
            _ = health.request()
            #expect(health.failed(refusal, now: 0, jitter: 0) == true)
            health.connected(needsRecovery: false)
            #expect(health.failed(refusal, now: 0, jitter: 0) == true)
        }

        @Test func recoveryKeepsCommandsOut() {
            var health = ServerHealth()
            _ = health.request()
            health.connected(needsRecovery: true)
            #expect(health.request() == bypass("removals that it missed are being repeated"))
            health.recovered()
            #expect(health.request() == .send)
            #expect(health.recover() == true)
            #expect(health.recover() == false)
            #expect(health.request() != .send)
        }
    }
#endif
