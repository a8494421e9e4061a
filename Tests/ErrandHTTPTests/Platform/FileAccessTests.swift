import Foundation
import TestSupport
import Testing

@testable import ErrandHTTP

/// Files that another user of a shared folder has planted.
@Suite(.timeLimit(.minutes(1))) struct FileAccessTests {
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("errand-file-access-\(UUID().uuidString)", isDirectory: true)

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private var file: URL { folder.appendingPathComponent("file") }
    private func cleanUp() { try? FileManager.default.removeItem(at: folder) }

    private func refusal(_ body: () throws(FileAccess.Refusal) -> Void) -> FileAccess.Refusal? {
        do throws(FileAccess.Refusal) {
            try body()
            return nil
        } catch {
            return error
        }
    }

    private static func expected(_ planted: PlantedFile, writing: Bool) -> FileAccess.Refusal {
        switch planted {
        case .symbolicLink, .danglingLink: .failed(ELOOP)
        case .hardLink: .severalNames
        case .folder where writing: .failed(EISDIR)
        case .pipe, .folder: .notRegular
        case .ofAnotherUser: .otherOwner
        case .writableByGroup, .writableByAll: .writableByOthers
        }
    }

    @Test(arguments: PlantedFile.possible) func plantedFilesAreNotReused(
        _ planted: PlantedFile
    ) throws {
        defer { cleanUp() }
        try planted.plant(at: file)
        let path = file.path
        let reading = Self.expected(planted, writing: false)
        let writing = Self.expected(planted, writing: true)
        #expect(
            refusal { () throws(FileAccess.Refusal) in _ = try FileAccess.own(path) } == reading)
        #expect(
            refusal { () throws(FileAccess.Refusal) in
                _ = try FileAccess.ownOrNew(path, mode: 0o600)
            } == writing)
        #expect(
            refusal { () throws(FileAccess.Refusal) in try FileAccess.checkOwn(path) } == reading)
        #expect(SourceFile.beginning(ofOwn: path, 10) == nil)
        #expect(planted.victimIsIntact(beside: file))
        let error = reading.error(path)
        #expect(error.code == .fileFailed && error.message.contains(path))
        #expect(error.message.contains("Remove it"))
    }

    @Test(arguments: PlantedFile.possible) func temporaryFilesAreNew(_ planted: PlantedFile) throws
    {
        defer { cleanUp() }
        try planted.plant(at: file)
        // As for a file of another user in a folder such as /tmp, which cannot be removed.
        #expect(
            refusal { () throws(FileAccess.Refusal) in
                _ = try FileAccess.new(file.path, mode: 0o600)
            } == .failed(EEXIST))
        let new = try FileAccess.temporary(beside: folder.path + "/other", reusing: file.path)
        defer { close(new.descriptor) }
        // A folder cannot be unlinked, so that another name is chosen.
        #expect((new.path == file.path) == (planted != .folder))
        #expect(write(new.descriptor, "new", 3) == 3)
        #expect(planted.victimIsIntact(beside: file))
        var status = stat()
        #expect(fstat(new.descriptor, &status) == 0 && status.st_mode == S_IFREG | 0o600)
        #expect(status.st_nlink == 1 && status.st_uid == geteuid())
    }

    @Test func temporaryFilesWithoutAFixedNameHaveDifferentNames() throws {
        defer { cleanUp() }
        let name = String(repeating: "é", count: 120)
        let files = try (0..<10).map { _ in
            try FileAccess.temporary(beside: folder.appendingPathComponent(name).path)
        }
        for file in files { close(file.descriptor) }
        #expect(Set(files.map(\.path)).count == 10)
        #expect(files.allSatisfy { ($0.path as NSString).deletingLastPathComponent == folder.path })
    }

    /// A file that the user has named may be a link, and may belong to another user.
    @Test(arguments: PlantedFile.possible) func filesThatTheUserHasNamedAreRegular(
        _ planted: PlantedFile
    ) throws {
        defer { cleanUp() }
        try planted.plant(at: file)
        let refusal = refusal { () throws(FileAccess.Refusal) in
            close(try FileAccess.reading(file.path))
        }
        let isReadable = (try? FileAccess.contents(of: file)) == Data("precious".utf8)
        switch planted {
        case .danglingLink: #expect(refusal == .failed(ENOENT) && !isReadable)
        case .pipe, .folder: #expect(refusal == .notRegular && !isReadable)
        default: #expect(refusal == nil && isReadable)
        }
    }

    /// A database is not opened to check it, and may be a link of the current user.
    @Test(arguments: PlantedFile.possible) func plantedDatabasesAreRefusedWithoutOpeningThem(
        _ planted: PlantedFile
    ) throws {
        defer { cleanUp() }
        try planted.plant(at: file)
        let refusal = refusal { () throws(FileAccess.Refusal) in
            try FileAccess.checkUnopened(file.path)
        }
        switch planted {
        case .symbolicLink, .danglingLink: #expect(refusal == nil)
        default: #expect(refusal == Self.expected(planted, writing: false))
        }
        guard planted == .symbolicLink, geteuid() == 0 else { return }
        #expect(lchown(file.path, 12_345, 12_345) == 0)
        #expect(
            self.refusal { () throws(FileAccess.Refusal) in
                try FileAccess.checkUnopened(file.path)
            } == .failed(ELOOP))
    }

    @Test func ownFilesAreCreatedAndReused() throws {
        defer { cleanUp() }
        let first = try FileAccess.ownOrNew(file.path, mode: 0o644)
        #expect(write(first, "mine", 4) == 4)
        close(first)
        let second = try FileAccess.ownOrNew(file.path, mode: 0o644)
        defer { close(second) }
        #expect(FileAccess.isName(file.path, of: second))
        #expect(SourceFile.beginning(ofOwn: file.path, 10) == Data("mine".utf8))
        #expect(fcntl(second, F_GETFD) & FD_CLOEXEC != 0)
        try FileManager.default.removeItem(at: file)
        #expect(!FileAccess.isName(file.path, of: second))
        #expect(
            refusal { () throws(FileAccess.Refusal) in try FileAccess.checkOwn(file.path) } == nil)
    }

    @Test func defaultModeIsThatOfTheProcess() throws {
        defer { cleanUp() }
        try Data().write(to: file)
        var status = stat()
        #expect(stat(file.path, &status) == 0)
        #expect(FileAccess.defaultMode(in: folder.path) == status.st_mode & 0o777)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["file"])
    }

    @Test func unnamedFilesHaveNoName() throws {
        defer { cleanUp() }
        let descriptor = try FileAccess.unnamed(in: folder.path)
        defer { close(descriptor) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        #expect(write(descriptor, "x", 1) == 1)
    }
}
