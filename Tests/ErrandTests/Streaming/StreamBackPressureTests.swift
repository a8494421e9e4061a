import Errand
import ErrandTesting
import ErrandTransport
import Foundation
import TestSupport
import Testing

/// A reader that does not read stops the transfer, alone and together with `suspend()`.
@Suite(.limited) struct StreamBackPressureTests {
    private static let chunk = 16 << 10
    private static let limit = 64 << 10
    private let scripted = ScriptedTransport()
    private let transport: ObservedTransport
    private let agent: RequestAgent

    init() {
        transport = ObservedTransport(scripted, path: "/feed")
        agent = RequestAgent(
            configuration: Configuration(baseURL: "https://api.example.com/"), transport: transport)
    }

    private func stream(_ steps: [ScriptedResponse.Step]) async throws -> ResponseStream {
        scripted.on(.get, "/feed", .stream(steps))
        return try await Feed().stream(on: agent)
    }

    private static func body(_ count: Int) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 11) })
    }

    private static func chunks(of body: Data, size: Int = chunk) -> [ScriptedResponse.Step] {
        stride(from: 0, to: body.count, by: size).map {
            .bytes(body[$0..<min(body.count, $0 + size)])
        }
    }

    @Test func anUnreadStreamStopsTheTransfer() async throws {
        let body = Self.body(4 << 20)
        let stream = try await stream(Self.chunks(of: body, size: 10_000))
        await transport.untilPaused()
        let received = stream.task.progress.current.bytesReceived
        #expect(received >= Self.limit && received < Self.limit + 10_000)
        // Other transfers give this one time to deliver.
        scripted.on(.get, "/other", .json("{}"))
        for _ in 0..<5 { _ = try await Plain("other").send(on: agent) }
        #expect(stream.task.progress.current.bytesReceived == received)
        #expect(transport.counts.resumptions == 0)
        let reading = await stream.readToEnd()
        #expect(reading.bytes == body && reading.error == nil)
        let counts = transport.counts
        #expect(counts.chunksWhilePaused == 0 && counts.pauses == counts.resumptions)
    }

    /// An action on a stream whose channel is full.
    private enum Action: CaseIterable, Sendable { case read, suspend, resume }

    /// The possible sequences of actions, with the number of resumptions of the transfer after each action.
    private static func sequences(_ length: Int) -> [[(Action, Int)]] {
        var result: [[(Action, Int)]] = []
        func explore(_ path: [(Action, Int)], isFull: Bool, isSuspended: Bool, _ count: Int) {
            guard path.count < length else { return result.append(path) }
            if isFull {
                // The transfer fills the channel again, unless the task is suspended.
                let next = count + (isSuspended ? 0 : 1)
                explore(
                    path + [(.read, next)], isFull: !isSuspended, isSuspended: isSuspended, next)
            }
            if isSuspended {
                let next = count + (isFull ? 0 : 1)
                explore(path + [(.resume, next)], isFull: true, isSuspended: false, next)
            } else {
                explore(path + [(.suspend, count)], isFull: isFull, isSuspended: true, count)
            }
        }
        explore([], isFull: true, isSuspended: false, 0)
        return result
    }

    @Test func suspensionsAndReadsOfAFullStreamInEveryOrder() async throws {
        let body = Self.body(1 << 20)
        for sequence in Self.sequences(5) {
            let stream = try await stream(Self.chunks(of: body))
            await transport.untilPaused()
            let before = transport.counts.resumptions
            var iterator = stream.bytes.makeAsyncIterator()
            var read = Data()
            for (action, resumptions) in sequence {
                switch action {
                case .read:
                    // The transfer is resumed when half of the channel has been read.
                    let end = read.count + Self.limit / 2
                    while read.count < end { read += try #require(try await iterator.next()) }
                case .suspend: stream.task.suspend()
                case .resume: stream.task.resume()
                }
                await transport.untilPaused()
                #expect(transport.counts.resumptions - before == resumptions, "\(sequence)")
            }
            stream.task.resume()
            while let chunk = try await iterator.next() { read += chunk }
            #expect(read == body)
        }
        #expect(transport.counts.chunksWhilePaused == 0)
    }

    @Test func aSuspensionPausesBeforeTheChannelIsFull() async throws {
        let gate = Gate()
        let stream = try await stream([.text("a"), .hold(gate), .text("b"), .text("c")])
        var iterator = stream.bytes.makeAsyncIterator()
        #expect(try await iterator.next() == Data("a".utf8))
        stream.task.suspend()
        gate.open()
        await transport.untilPaused()
        // The chunk that was on its way is readable, and reading it does not resume the transfer.
        #expect(try await iterator.next() == Data("b".utf8))
        #expect(transport.counts.resumptions == 0 && stream.task.phase == .suspended)
        stream.task.resume()
        #expect(try await iterator.next() == Data("c".utf8))
        #expect(try await iterator.next() == nil)
        #expect(transport.counts.resumptions == 1 && transport.counts.chunksWhilePaused == 0)
    }

    @Test func aChunkThatFillsTheChannelOfASuspendedTask() async throws {
        let gate = Gate()
        let large = Self.body(Self.limit)
        let stream = try await stream([.hold(gate), .bytes(large), .text("c")])
        try await gate.reached()
        stream.task.suspend()
        gate.open()
        await transport.untilPaused()
        stream.task.resume()
        // The channel is still full.
        #expect(transport.counts.resumptions == 0)
        var iterator = stream.bytes.makeAsyncIterator()
        #expect(try await iterator.next() == large)
        #expect(try await iterator.next() == Data("c".utf8))
        #expect(try await iterator.next() == nil)
        #expect(transport.counts.resumptions == 1)
    }

    @Test func concurrentSuspensionsLoseNothing() async throws {
        let body = Self.body(4 << 20)
        let stream = try await stream(Self.chunks(of: body))
        let task = stream.task
        let suspender = Task {
            while task.phase != .ended, !Task.isCancelled {
                task.suspend()
                await Task.yield()
                task.resume()
                await Task.yield()
            }
            task.resume()
        }
        let reading = await stream.readToEnd()
        suspender.cancel()
        #expect(reading.error == nil && reading.bytes == body)
        #expect(transport.counts.chunksWhilePaused == 0)
        await suspender.value
    }

    @Test func cancellingASuspendedStreamEndsIt() async throws {
        let stream = try await stream(Self.chunks(of: Self.body(1 << 20)))
        stream.task.suspend()
        stream.task.cancel()
        #expect(await stream.readToEnd().error?.code == .cancelled)
        try await scripted.untilIdle()
        #expect(agent.activeTasks.isEmpty)
    }
}
