import Dispatch
import ErrandHTTP
import ErrandTransport
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ErrandCore

/// A channel between a transfer on its own queue and one reader, with random sizes and ends.
@Suite(.limited) struct BodyChannelTests {
    /// How a schedule ends.
    private enum Ending: Int, CaseIterable { case complete, failed, left, cancelled, taskCancelled }

    /// The outcome of a reader.
    private struct Reading: Sendable {
        var bytes = Data()
        var error: RequestError?
        var hasLeft = false
    }

    @Test func randomSchedulesLoseNoBytesAndEndOnce() async {
        await withTaskGroup(of: String?.self) { group in
            for seed in 0..<400 { group.addTask { await Self.run(seed: UInt64(seed)) } }
            for await fault in group { #expect(fault == nil) }
        }
    }

    /// Runs one schedule; the violated rule, or `nil`.
    private static func run(seed: UInt64) async -> String? {
        var random = SeededGenerator(seed: seed)
        let ending = Ending.allCases[Int.random(in: 0..<Ending.allCases.count, using: &random)]
        let sizes = (0..<Int.random(in: 1...60, using: &random)).map { _ in
            Int.random(in: 1...(Bool.random(using: &random) ? 100 : 40_000), using: &random)
        }
        let failure: RequestError? =
            ending == .failed ? RequestError(.connectionLost, stage: .transport, "Lost.") : nil
        let pump = Pump(sizes, failure)
        let channel = pump.makeChannel()
        let stop = Int.random(in: 0..<sizes.count, using: &random)
        let reader = Task { await read(channel, leavesAfter: ending == .left ? stop : nil) }
        pump.run()
        switch ending {
        case .cancelled:
            await pump.delivered(stop)
            channel.cancelTransfer(discardsBuffer: Bool.random(using: &random))
        case .taskCancelled:
            await pump.delivered(stop)
            reader.cancel()
        case .complete, .failed, .left: break
        }
        let reading = await reader.value
        await pump.untilEnded()
        return fault(of: reading, ending, pump, total: sizes.reduce(0, +))
            .map { "\($0): seed \(seed), \(ending)" }
    }

    private static func read(_ channel: BodyChannel, leavesAfter count: Int?) async -> Reading {
        var (reading, chunks) = (Reading(), 0)
        while true {
            if chunks == count {
                channel.leave()
                reading.hasLeft = true
                return reading
            }
            do throws(RequestError) {
                guard let chunk = try await channel.next() else { return reading }
                reading.bytes += chunk
                chunks += 1
            } catch {
                reading.error = error
                return reading
            }
        }
    }

    private static func fault(
        of reading: Reading, _ ending: Ending, _ pump: Pump, total: Int
    ) -> String? {
        if pump.ends != 1 || pump.releases != 1 { return "one end" }
        if pump.chunksWhilePaused > 0 { return "no chunk while paused" }
        if reading.bytes != pump.pattern.prefix(reading.bytes.count) { return "bytes in order" }
        let isWhole = reading.bytes.count == total
        switch ending {
        case .complete: return isWhole && reading.error == nil ? nil : "complete"
        case .failed: return isWhole && reading.error?.code == .connectionLost ? nil : "failed"
        case .left:
            return reading.hasLeft || reading.error == nil && isWhole ? nil : "left"
        case .cancelled, .taskCancelled:
            // The cancellation may come after the end.
            if reading.error == nil { return isWhole ? nil : "complete or cancelled" }
            return reading.error?.code == .cancelled ? nil : "cancelled"
        }
    }

    @Test func aChannelOfACompleteBodyHasOneChunk() async throws {
        let channel = BodyChannel(Data("whole".utf8))
        let ended = Mutex(0)
        channel.whenEnded { _ in ended.withLock { $0 += 1 } }
        channel.whenOver { _ in ended.withLock { $0 += 1 } }
        #expect(ended.withLock { $0 } == 2)
        #expect(try await channel.next() == Data("whole".utf8))
        #expect(try await channel.next() == nil)
        #expect(try await BodyChannel(Data()).next() == nil)
    }

    @Test func aCopyHasTheBytesThatArrivedBeforeIt() async throws {
        let channel = BodyChannel(resume: {}, cancel: {})
        let copy = SpooledCopy(limit: 100)
        #expect(channel.receive(Data("one".utf8)) == .more)
        channel.copy(to: copy)
        #expect(try await channel.next() == Data("one".utf8))
        #expect(channel.receive(Data("two".utf8)) == .more)
        #expect(copy.finish() == 6)
        #expect(copy.bytes(in: 0..<6) == Data("onetwo".utf8))
    }

    @Test func closuresOfTheEndRunInOrderAndOnce() {
        let lines = Mutex<[String]>([])
        let channel = BodyChannel(resume: {}, cancel: {})
        channel.whenOver { _ in lines.withLock { $0.append("over") } }
        for name in ["a", "b"] { channel.whenEnded { _ in lines.withLock { $0.append(name) } } }
        channel.transferEnded(TransferEnd())
        channel.transferEnded(TransferEnd(error: .cancelled))
        channel.whenEnded { end in lines.withLock { $0.append("late \(end.error == nil)") } }
        #expect(lines.withLock { $0 } == ["a", "b", "over", "late true"])
    }

    @Test func releasingTheBodyCancelsTheTask() {
        let lines = Mutex<[String]>([])
        let channel = BodyChannel(resume: {}, cancel: { lines.withLock { $0.append("transfer") } })
        var body: StreamedBody? = StreamedBody(channel)
        channel.setTask { lines.withLock { $0.append("task") } }
        withExtendedLifetime(body) {}
        body = nil
        #expect(lines.withLock { $0 } == ["task"])
        channel.leave()
        #expect(lines.withLock { $0 } == ["task"])
        #expect(channel.receive(Data("x".utf8)) == .stop)
    }

    @Test func aSecondReaderIsRefused() async throws {
        let channel = BodyChannel(resume: {}, cancel: {})
        let first = Task { try await channel.next() }
        while channel.waitingTime == nil { await Task.yield() }
        let error = await #expect(throws: RequestError.self) { try await channel.next() }
        #expect(error?.code == .invalidCombination)
        _ = channel.receive(Data("x".utf8))
        #expect(try await first.value == Data("x".utf8))
        #expect(channel.waitingTime == nil)
    }
}

extension BodyChannel {
    fileprivate func receive(_ data: Data) -> Demand { data.withUnsafeBytes { receive($0) } }
}

/// A transfer that delivers chunks on its own queue and obeys the demand.
private final class Pump: Sendable {
    private struct State {
        var next = 0
        var isPaused = false
        var isInCall = false
        var wasResumedInCall = false
        var isCancelled = false
        var hasEnded = false
        var ends = 0
        var releases = 0
        var chunksWhilePaused = 0
        var offset = 0
        var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
        var endWaiter: CheckedContinuation<Void, Never>?

        mutating func delivered(_ demand: Demand) {
            isInCall = false
            defer { wasResumedInCall = false }
            if isPaused { chunksWhilePaused += 1 }
            switch demand {
            case .more: break
            case .pause: isPaused = !wasResumedInCall
            case .stop: isCancelled = true
            }
        }
    }

    let pattern: Data
    private let sizes: [Int]
    private let failure: RequestError?
    private let queue = DispatchQueue(label: "pump")
    private let state = Mutex(State())
    /// The channel, until the end.
    private let current = Mutex<BodyChannel?>(nil)

    init(_ sizes: [Int], _ failure: RequestError?) {
        self.sizes = sizes
        self.failure = failure
        let total = sizes.reduce(0, +)
        pattern = Data((0..<total).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
    }

    var ends: Int { state.withLock { $0.ends } }
    var releases: Int { state.withLock { $0.releases } }
    var chunksWhilePaused: Int { state.withLock { $0.chunksWhilePaused } }

    func makeChannel() -> BodyChannel {
        let channel = BodyChannel { [self] in
            state.withLock { state in
                state.isPaused = false
                if state.isInCall { state.wasResumedInCall = true }
            }
            run()
        } cancel: { [self] in
            state.withLock { $0.isCancelled = true }
            run()
        }
        current.withLock { $0 = channel }
        channel.whenEnded { [self] _ in state.withLock { $0.releases += 1 } }
        channel.whenOver { [self] end in
            Task {
                current.withLock { $0 = nil }
                channel.close(end.error)
                let waiter = state.withLock { state in
                    state.ends += 1
                    return state.endWaiter.take()
                }
                waiter?.resume()
            }
        }
        return channel
    }

    /// Waits until a number of chunks was delivered, or the end.
    func delivered(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if state.next >= count || state.hasEnded || state.isPaused { return true }
                state.waiters.append((count, continuation))
                return false
            }
            if isDone { continuation.resume() }
        }
    }

    func untilEnded() async {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if state.ends == 0 { state.endWaiter = continuation }
                return state.ends > 0
            }
            if isDone { continuation.resume() }
        }
    }

    func run() {
        queue.async { [self] in
            guard let channel = current.withLock({ $0 }) else { return }
            while step(channel) {}
        }
    }

    private func step(_ channel: BodyChannel) -> Bool {
        let (bytes, end) = state.withLock { state -> (Range<Int>?, TransferEnd?) in
            if state.hasEnded { return (nil, nil) }
            if state.isCancelled || !state.isPaused && state.next == sizes.count {
                state.hasEnded = true
                return (nil, TransferEnd(error: state.isCancelled ? .cancelled : failure))
            }
            if state.isPaused { return (nil, nil) }
            state.isInCall = true
            defer {
                state.offset += sizes[state.next]
                state.next += 1
            }
            return (state.offset..<(state.offset + sizes[state.next]), nil)
        }
        if let bytes {
            let demand = pattern[bytes].withUnsafeBytes { channel.receive($0) }
            state.withLock { $0.delivered(demand) }
        }
        if let end { channel.transferEnded(end) }
        wake()
        return bytes != nil
    }

    private func wake() {
        let ready = state.withLock { state in
            let isDone = state.hasEnded || state.isPaused
            let ready = state.waiters.filter { isDone || $0.count <= state.next }
            state.waiters.removeAll { isDone || $0.count <= state.next }
            return ready.map(\.continuation)
        }
        for continuation in ready { continuation.resume() }
    }
}
