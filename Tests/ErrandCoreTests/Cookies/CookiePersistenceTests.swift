import ErrandCore
import ErrandTesting
import Foundation
import Synchronization
import Testing

/// Keeps what was saved, holds the first save back, and can fail.
private final class Shelf: CookiePersistence {
    struct Broken: Error {}
    let saves = Mutex<[[Cookie]]>([])
    let isBroken = Mutex(false)
    private let start: [Cookie]

    init(_ start: [Cookie] = []) { self.start = start }

    func load() throws -> [Cookie] {
        if isBroken.withLock({ $0 }) { throw Broken() }
        return start
    }

    func save(_ cookies: [Cookie]) throws {
        if isBroken.withLock({ $0 }) { throw Broken() }
        saves.withLock { $0.append(cookies) }
    }

    var last: [String]? { saves.withLock { $0.last?.map(\.name) } }
}

@Suite(.timeLimit(.minutes(5))) struct CookiePersistenceTests {
    private let clock = ManualClock()
    private let origin: URI

    init() throws { origin = try URI(parsing: "https://example.com/") }

    @Test func changesAreSavedWithoutSessionCookies() async throws {
        let shelf = Shelf()
        let jar = CookieJar(persistence: shelf, clock: clock)
        jar.receive("session=1", from: origin)
        try await jar.flush()
        #expect(shelf.saves.withLock { $0.isEmpty })
        jar.receive("a=1; Max-Age=60", from: origin)
        jar.receive("b=1; Max-Age=60", from: origin)
        try await jar.flush()
        #expect(shelf.last == ["a", "b"])
        jar.receive("a=; Max-Age=0", from: origin)
        try await jar.flush()
        #expect(shelf.last == ["b"])
        jar.clear()
        try await jar.flush()
        #expect(shelf.last == [])
    }

    @Test func whatWasSavedComesBackAndKeepsItsAge() async throws {
        let shelf = Shelf()
        let jar = CookieJar(persistence: shelf, clock: clock)
        jar.receive("old=1; Max-Age=60", from: origin)
        jar.receive("short=1; Max-Age=5", from: origin)
        try await jar.flush()
        let created = jar.all.first?.created
        clock.advance(by: .seconds(10))
        let again = CookieJar(
            persistence: Shelf(shelf.saves.withLock { $0.last ?? [] }), clock: clock)
        #expect(again.all.map(\.name) == ["old"])
        #expect(again.all.first?.created == created)
    }

    @Test func failuresAreToldAndTheJarGoesOn() async throws {
        let shelf = Shelf()
        shelf.isBroken.withLock { $0 = true }
        let jar = CookieJar(persistence: shelf, clock: clock)
        #expect(jar.persistenceFailure is Shelf.Broken)
        jar.receive("a=1; Max-Age=60", from: origin)
        await #expect(throws: Shelf.Broken.self) { try await jar.flush() }
        #expect(jar.all.count == 1)
        shelf.isBroken.withLock { $0 = false }
        jar.receive("b=1; Max-Age=60", from: origin)
        try await jar.flush()
        #expect(jar.persistenceFailure == nil)
        #expect(shelf.last == ["a", "b"])
    }

    @Test func manyWritersAtOnceEndWithEverythingSaved() async throws {
        let shelf = Shelf()
        let jar = CookieJar(persistence: shelf, clock: clock)
        await withTaskGroup { group in
            for number in 0..<40 {
                group.addTask { [origin] in
                    jar.receive("n\(number)=1; Max-Age=60", from: origin)
                }
            }
        }
        try await jar.flush()
        #expect(Set(shelf.last ?? []) == Set((0..<40).map { "n\($0)" }))
    }
}
