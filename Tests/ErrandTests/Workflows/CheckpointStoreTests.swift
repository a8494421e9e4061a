import Errand
import ErrandWorkflows
import Foundation
import TestSupport
import Testing

/// The contract of ``CheckpointStore``, which both stores fulfil.
@Suite(.limited)
struct CheckpointStoreTests {
    enum Kind: String, CaseIterable, CustomTestStringConvertible {
        case memory, sqlite
        var testDescription: String { rawValue }

        func makeStore(at path: String) -> any CheckpointStore {
            switch self {
            case .memory: MemoryCheckpointStore()
            case .sqlite: SQLiteCheckpointStore(path: path)
            }
        }
    }

    private let folder: URL
    private let cleanUp: CleanUp

    /// Removes the folder of a test after its end.
    private final class CleanUp {
        let folder: URL
        init(_ folder: URL) { self.folder = folder }
        deinit { try? FileManager.default.removeItem(at: folder) }
    }

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-checkpoints-\(UUID().uuidString)")
        cleanUp = CleanUp(folder)
    }

    private var path: String { folder.appendingPathComponent("chains.sqlite").path }

    private static func checkpoint(
        _ chain: String = "sign-up", definition: [String] = ["A", "é: B", ""],
        outputs: [String?] = ["1", nil, ""]
    ) -> Checkpoint {
        Checkpoint(
            chain: chain, definition: definition, outputs: outputs.map { $0.map { Data($0.utf8) } })
    }

    @Test(arguments: Kind.allCases)
    func newStoreHasNoCheckpoint(kind: Kind) async throws {
        let store = kind.makeStore(at: path)
        #expect(try await store.checkpoint(of: "sign-up") == nil)
        #expect(try await store.unfinishedChains().isEmpty)
        try await store.removeCheckpoint(of: "sign-up")
    }

    @Test(arguments: Kind.allCases)
    func savedCheckpointIsReturnedUnchanged(kind: Kind) async throws {
        let store = kind.makeStore(at: path)
        var saved = Self.checkpoint()
        // A missing output, an empty one and one of several pages; every byte value; any text as a name.
        saved.chain = "käse\n'\"; DROP TABLE checkpoints"
        saved.outputs.append(Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }))
        try await store.put(saved)
        #expect(try await store.checkpoint(of: saved.chain) == saved)
        #expect(try await store.unfinishedChains() == [saved.chain])
    }

    @Test(arguments: Kind.allCases)
    func newCheckpointReplacesThePreviousOne(kind: Kind) async throws {
        let store = kind.makeStore(at: path)
        let versions = [
            Self.checkpoint(outputs: ["1", "2", nil]),
            Self.checkpoint(outputs: ["1", nil, "3", "4"]),
            Self.checkpoint(definition: ["B"], outputs: ["x"]),
            Self.checkpoint(definition: [], outputs: []),
        ]
        for version in versions {
            try await store.put(version)
            #expect(try await store.checkpoint(of: "sign-up") == version)
        }
    }

    @Test(arguments: Kind.allCases)
    func chainsHaveTheirOwnCheckpoints(kind: Kind) async throws {
        let store = kind.makeStore(at: path)
        let names = ["a", "A", "a ", "", "b"]
        for name in names { try await store.put(Self.checkpoint(name, outputs: [name, "x"])) }
        #expect(try await store.unfinishedChains().sorted() == names.sorted())
        try await store.removeCheckpoint(of: "a")
        try await store.removeCheckpoint(of: "absent")
        #expect(try await store.checkpoint(of: "a") == nil)
        for name in names.dropFirst() {
            let found = try await store.checkpoint(of: name)
            #expect(found?.chain == name && found?.outputs == [Data(name.utf8), Data("x".utf8)])
        }
        // The outputs and the definition were removed, too.
        try await store.put(Self.checkpoint("a", definition: [], outputs: []))
        let found = try await store.checkpoint(of: "a")
        #expect(found?.outputs == [] && found?.definition == [])
    }

    @Test(arguments: Kind.allCases)
    func checkpointOfAnotherRunIsNotReplaced(kind: Kind) async throws {
        let store = kind.makeStore(at: path)
        let first = Self.checkpoint(outputs: ["1"])
        let second = Self.checkpoint(outputs: ["2"])
        #expect(try await store.save(first, replacing: UUID()) == false)
        #expect(try await store.save(first, replacing: nil))
        #expect(try await store.save(second, replacing: nil) == false)
        #expect(try await store.save(second, replacing: second.revision) == false)
        #expect(try await store.checkpoint(of: "sign-up") == first)
        #expect(try await store.save(second, replacing: first.revision))
        #expect(try await store.checkpoint(of: "sign-up") == second)
        try await store.removeCheckpoint(of: "sign-up")
        #expect(try await store.save(first, replacing: second.revision) == false)
    }

    @Test(arguments: Kind.allCases)
    func concurrentRunsOfDifferentChainsDoNotAffectEachOther(kind: Kind) async throws {
        let store = kind.makeStore(at: path)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    for step in 1...10 {
                        let outputs = (0..<step).map { "\(number) \($0)" }
                        let saved = Self.checkpoint("\(number)", outputs: outputs)
                        try await store.put(saved)
                        #expect(try await store.checkpoint(of: "\(number)") == saved)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await store.unfinishedChains().count == 8)
    }

    @Test func checkpointsInADatabaseSurviveTheStore() async throws {
        let saved = Self.checkpoint()
        do {
            let store = SQLiteCheckpointStore(path: path)
            try await store.put(saved)
        }
        let store = SQLiteCheckpointStore(path: path)
        #expect(try await store.checkpoint(of: "sign-up") == saved)
        #expect(store.path == path)
    }

    @Test func twoStoresOnOneFileSeeEachOthersCheckpoints() async throws {
        let one = SQLiteCheckpointStore(path: path)
        let other = SQLiteCheckpointStore(path: path)
        try await one.put(Self.checkpoint(outputs: ["1"]))
        #expect(try await other.checkpoint(of: "sign-up")?.outputs.count == 1)
        try await other.put(Self.checkpoint(outputs: ["1", "2"]))
        #expect(try await one.checkpoint(of: "sign-up")?.outputs.count == 2)
        try await one.removeCheckpoint(of: "sign-up")
        #expect(try await other.checkpoint(of: "sign-up") == nil)
    }

    /// A custom store can keep checkpoints as text.
    @Test func checkpointIsCodable() throws {
        let saved = Self.checkpoint()
        let bytes = try JSONEncoder().encode(saved)
        #expect(try JSONDecoder().decode(Checkpoint.self, from: bytes) == saved)
    }
}

extension CheckpointStore {
    /// Stores a checkpoint, whatever it replaces.
    fileprivate func put(_ checkpoint: Checkpoint) async throws {
        let previous = try await self.checkpoint(of: checkpoint.chain)?.revision
        #expect(try await save(checkpoint, replacing: previous))
    }
}
