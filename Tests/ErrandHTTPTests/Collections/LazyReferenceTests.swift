import Synchronization
import Testing

@testable import ErrandHTTP

@Suite struct LazyReferenceTests {
    private final class Counted: Sendable {
        static let living = Atomic<Int>(0)

        init() { Self.living.add(1, ordering: .relaxed) }
        deinit { Self.living.subtract(1, ordering: .relaxed) }
    }

    @Test func firstObjectStaysAndAllAreReleased() async {
        for _ in 0..<200 {
            let holder = Holder()
            #expect(holder.object.load() == nil)
            let stored = await withTaskGroup(of: Counted.self) { group in
                for _ in 0..<8 {
                    group.addTask { holder.object.storeIfNil(Counted()) }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(stored.allSatisfy { $0 === stored[0] })
            #expect(holder.object.load() === stored[0])
        }
        // The runtime releases the result of a child task after its end.
        for _ in 0..<100_000 where Counted.living.load(ordering: .relaxed) != 0 {
            await Task.yield()
        }
        #expect(Counted.living.load(ordering: .relaxed) == 0)
    }

    private final class Holder: Sendable {
        let object = LazyReference<Counted>()
    }
}
