import ErrandHTTP
import ErrandTransport
import Foundation
import TestSupport
import Testing

@testable import ErrandInspector

/// The bytes of a response that a rule delays, in any order of events.
@Suite("Inspector: delivery of a response")
struct ResponseDeliveryTests {
    private func receive(_ bytes: [UInt8], _ delivery: inout ResponseDelivery) -> Bool {
        bytes.withUnsafeBytes { delivery.beginReceiving($0) }
    }

    private func bytes(_ step: ResponseDelivery.Step) -> [UInt8]? {
        if case .bytes(let data) = step { Array(data) } else { nil }
    }

    private func end(_ step: ResponseDelivery.Step) -> TransferEnd? {
        if case .end(let end) = step { end } else { nil }
    }

    /// A transport, a receiver and a clock that do anything in any order: no byte is lost, repeated or delivered during a
    /// pause, and the end comes last, once.
    @Test func everyOrderDeliversAllBytesOnce() {
        for seed in UInt64(0)..<300 {
            var random = SeededGenerator(seed: seed)
            var delivery = ResponseDelivery()
            var (sent, delivered): ([UInt8], [UInt8]) = ([], [])
            var (isPaused, isTransportPaused, hasEnded) = (false, false, false)
            var ends = 0
            func run() {
                while true {
                    let step = delivery.next(chunkSize: 3, at: .zero, hasTransfer: !hasEnded)
                    switch step {
                    case .none: return
                    case .resume:
                        #expect(isTransportPaused, "seed \(seed)")
                        isTransportPaused = false
                    case .end: ends += 1
                    case .bytes(let data):
                        #expect(!isPaused && ends == 0, "seed \(seed)")
                        #expect(!delivery.isWaiting, "seed \(seed)")
                        #expect((1...3).contains(data.count), "seed \(seed)")
                        delivered += data
                        let demand: Demand = Bool.random(using: &random) ? .pause : .more
                        // The receiver may resume before its call returns.
                        let resumes = Bool.random(using: &random)
                        if resumes { delivery.resume() }
                        isPaused = demand == .pause && !resumes
                        let waits = Bool.random(using: &random)
                        delivery.delivered(
                            data.count, demand, wait: waits ? .seconds(1) : .zero)
                    }
                }
            }
            func resume() {
                isPaused = false
                delivery.resume()
                run()
            }
            func endWait() {
                delivery.waitEnded(delivery.wait, at: .zero)
                run()
            }
            for _ in 0..<40 {
                switch Int.random(in: 0..<4, using: &random) {
                case 0: resume()
                case 1: endWait()
                default:
                    guard !isTransportPaused else { break }
                    let chunk = (0..<Int.random(in: 1...7, using: &random)).map {
                        UInt8(truncatingIfNeeded: sent.count + $0)
                    }
                    sent += chunk
                    #expect(receive(chunk, &delivery))
                    run()
                    let demand = delivery.endReceiving()
                    #expect(demand != .stop)
                    isTransportPaused = demand == .pause
                }
            }
            hasEnded = true
            delivery.transportEnded(TransferEnd(), at: .zero)
            run()
            // Nothing else is needed than the ends of pauses and waits.
            for _ in 0..<(2 * sent.count + 2) where ends == 0 {
                resume()
                endWait()
            }
            #expect(delivered == sent, "seed \(seed)")
            #expect(ends == 1, "seed \(seed)")
        }
    }

    @Test func endWaitsForTheLastBytes() throws {
        var delivery = ResponseDelivery()
        #expect(receive([1, 2], &delivery))
        #expect(bytes(delivery.next(chunkSize: 9, at: .zero, hasTransfer: true)) == [1, 2])
        delivery.delivered(2, .more, wait: .seconds(2))
        #expect(delivery.endReceiving() == .pause)
        #expect(delivery.waitingTime(.seconds(9), at: .zero) == nil)
        var timings = AttemptTimings()
        timings.finished = .seconds(1)
        delivery.transportEnded(TransferEnd(timings: timings), at: .zero)
        #expect(end(delivery.next(chunkSize: 9, at: .zero, hasTransfer: false)) == nil)
        delivery.waitEnded(delivery.wait - 1, at: .seconds(1))
        #expect(end(delivery.next(chunkSize: 9, at: .seconds(1), hasTransfer: false)) == nil)
        delivery.waitEnded(delivery.wait, at: .seconds(2))
        let last = end(delivery.next(chunkSize: 9, at: .seconds(2), hasTransfer: false))
        #expect(try #require(last).timings.finished == .seconds(3))
        #expect(last?.error == nil)
        #expect(end(delivery.next(chunkSize: 9, at: .seconds(2), hasTransfer: false)) == nil)
    }

    @Test func idleTimeCountsFromTheEndOfTheWait() {
        var delivery = ResponseDelivery()
        #expect(delivery.waitingTime(.seconds(9), at: .seconds(9)) == .seconds(9))
        #expect(receive([1], &delivery))
        _ = delivery.next(chunkSize: 1, at: .seconds(9), hasTransfer: true)
        delivery.delivered(1, .more, wait: .seconds(1))
        delivery.waitEnded(delivery.wait, at: .seconds(10))
        #expect(delivery.waitingTime(.seconds(12), at: .seconds(12)) == .seconds(2))
        #expect(delivery.waitingTime(nil, at: .seconds(12)) == nil)
    }

    @Test func cancellationDiscardsTheBytes() {
        var delivery = ResponseDelivery()
        #expect(receive([1, 2, 3], &delivery))
        _ = delivery.next(chunkSize: 1, at: .zero, hasTransfer: true)
        delivery.delivered(1, .more, wait: .seconds(1))
        #expect(delivery.endReceiving() == .pause)
        delivery.transportEnded(TransferEnd(), at: .zero)
        delivery.cancel()
        #expect(!receive([4], &delivery))
        let last = end(delivery.next(chunkSize: 1, at: .zero, hasTransfer: false))
        #expect(last?.error?.code == .cancelled)
    }

    @Test func stopOfTheReceiverIsACancellation() {
        var delivery = ResponseDelivery()
        #expect(receive([1, 2, 3], &delivery))
        _ = delivery.next(chunkSize: 1, at: .zero, hasTransfer: true)
        delivery.delivered(1, .stop, wait: .seconds(1))
        #expect(delivery.needsNoMoreBytes && !delivery.isWaiting)
        #expect(delivery.endReceiving() == .stop)
    }

    @Test(arguments: [RequestError.Code.cancelled, .agentShutDown])
    func endOfTheTransportDoesNotWait(code: RequestError.Code) {
        var delivery = ResponseDelivery()
        #expect(receive([1, 2, 3], &delivery))
        _ = delivery.next(chunkSize: 1, at: .zero, hasTransfer: true)
        delivery.delivered(1, .pause, wait: .seconds(1))
        let error = RequestError(code, stage: .transport, "x")
        delivery.transportEnded(TransferEnd(error: error), at: .zero)
        #expect(
            end(delivery.next(chunkSize: 1, at: .zero, hasTransfer: false))?.error?.code == code)
    }

    @Test func faultComesAfterItsBytes() {
        let fault = RequestError(.connectionLost, stage: .transport, "x")
        var delivery = ResponseDelivery(fault: fault, afterBytes: 5)
        #expect(receive([1, 2, 3, 4, 5, 6, 7], &delivery))
        #expect(bytes(delivery.next(chunkSize: 4, at: .zero, hasTransfer: true)) == [1, 2, 3, 4])
        delivery.delivered(4, .more, wait: .zero)
        #expect(bytes(delivery.next(chunkSize: 4, at: .zero, hasTransfer: true)) == [5])
        delivery.delivered(1, .more, wait: .zero)
        #expect(bytes(delivery.next(chunkSize: 4, at: .zero, hasTransfer: true)) == nil)
        #expect(delivery.endReceiving() == .stop)
        delivery.transportEnded(TransferEnd(error: .cancelled), at: .zero)
        let last = end(delivery.next(chunkSize: 4, at: .zero, hasTransfer: false))
        #expect(last?.error?.code == .connectionLost)
    }

    @Test func shorterBodyHasNoFault() {
        let fault = RequestError(.connectionLost, stage: .transport, "x")
        var delivery = ResponseDelivery(fault: fault, afterBytes: 5)
        #expect(receive([1, 2, 3, 4], &delivery))
        _ = delivery.next(chunkSize: 9, at: .zero, hasTransfer: true)
        delivery.delivered(4, .more, wait: .zero)
        #expect(delivery.endReceiving() == .more)
        delivery.transportEnded(TransferEnd(), at: .zero)
        let last = end(delivery.next(chunkSize: 9, at: .zero, hasTransfer: false))
        #expect(last != nil && last?.error == nil)
    }
}
