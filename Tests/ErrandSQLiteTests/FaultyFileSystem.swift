import CSQLite
import Foundation
import Synchronization

/// A SQLite file system layer whose operations can be made to fail.
///
/// It forwards every operation to the default layer. Each object registers a layer of its own.
final class FaultyFileSystem: Sendable {
    enum Operation: String, CaseIterable, Sendable {
        case read, write, sync, open, truncate
    }

    /// How an operation fails.
    enum Fault: String, CaseIterable, Sendable {
        /// The disk is full (ENOSPC).
        case full
        /// The disk fails (EIO).
        case inputOutput
        /// A part of the bytes is transferred.
        case short
    }

    private struct Plan: Sendable {
        var operation: Operation
        var fault: Fault
        /// The number of operations that succeed before.
        var rest: Int
        /// Whether all later operations of this kind fail, too.
        var isPersistent: Bool
        var failures = 0
    }

    /// The name to open a database with.
    let name = "errand-faulty-\(UUID().uuidString)"
    private let plan = Mutex<Plan?>(nil)

    init() {
        let layer = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        guard let base = sqlite3_vfs_find(nil) else { return }
        layer.initialize(to: base.pointee)
        layer.pointee.szOsFile = Int32(FaultyFile.headerSize) + base.pointee.szOsFile
        layer.pointee.zName = UnsafePointer(strdup(name))
        layer.pointee.pNext = nil
        // Layers are never unregistered: SQLite may use them as long as the process runs.
        layer.pointee.pAppData = UnsafeMutableRawPointer(Unmanaged.passRetained(self).toOpaque())
        layer.pointee.xOpen = FaultyFile.open
        sqlite3_vfs_register(layer, 0)
    }

    /// Makes the n-th operation fail from now on, counted from 0.
    func fail(_ operation: Operation, _ fault: Fault, at number: Int, isPersistent: Bool) {
        plan.withLock {
            $0 = Plan(
                operation: operation, fault: fault, rest: number, isPersistent: isPersistent)
        }
    }

    /// Ends all faults; returns how many operations have failed.
    @discardableResult
    func heal() -> Int { plan.withLock { $0.take()?.failures ?? 0 } }

    /// The fault of an operation, if it is to fail.
    fileprivate func next(_ operation: Operation) -> Fault? {
        plan.withLock { plan in
            guard var current = plan, current.operation == operation else { return nil }
            defer { plan = current }
            guard current.rest == 0 else {
                current.rest -= 1
                return nil
            }
            guard current.isPersistent || current.failures == 0 else { return nil }
            current.failures += 1
            return current.fault
        }
    }
}

/// The files of a ``FaultyFileSystem``.
///
/// In memory: SQLite's header, the address of the layer, and the file of the default layer.
private enum FaultyFile {
    static let headerSize = 16

    private static func base(
        _ file: UnsafeMutablePointer<sqlite3_file>?
    ) -> UnsafeMutablePointer<sqlite3_file>? {
        file.map {
            (UnsafeMutableRawPointer($0) + headerSize).assumingMemoryBound(to: sqlite3_file.self)
        }
    }

    private static func methods(
        _ file: UnsafeMutablePointer<sqlite3_file>?
    ) -> sqlite3_io_methods? { base(file)?.pointee.pMethods?.pointee }

    private static func fault(
        _ file: UnsafeMutablePointer<sqlite3_file>?, _ operation: FaultyFileSystem.Operation
    ) -> FaultyFileSystem.Fault? {
        guard let file else { return nil }
        let address = (UnsafeRawPointer(file) + 8).load(as: UnsafeRawPointer.self)
        return Unmanaged<FaultyFileSystem>.fromOpaque(address).takeUnretainedValue()
            .next(operation)
    }

    static let open:
        @convention(c) (
            UnsafeMutablePointer<sqlite3_vfs>?, sqlite3_filename?,
            UnsafeMutablePointer<sqlite3_file>?, Int32, UnsafeMutablePointer<Int32>?
        ) -> Int32 = { layer, name, file, flags, outFlags in
            guard let layer, let file, let data = layer.pointee.pAppData,
                let base = sqlite3_vfs_find(nil)
            else { return SQLITE_CANTOPEN }
            file.pointee.pMethods = nil
            let system = Unmanaged<FaultyFileSystem>.fromOpaque(data).takeUnretainedValue()
            if let fault = system.next(.open) {
                return fault == .full ? SQLITE_FULL : SQLITE_CANTOPEN
            }
            (UnsafeMutableRawPointer(file) + 8).storeBytes(
                of: UnsafeRawPointer(data), as: UnsafeRawPointer.self)
            guard let inner = FaultyFile.base(file) else { return SQLITE_CANTOPEN }
            let code = base.pointee.xOpen(base, name, inner, flags, outFlags)
            if inner.pointee.pMethods != nil { file.pointee.pMethods = UnsafePointer(table) }
            return code
        }

    /// Immutable after its initialization.
    nonisolated(unsafe) private static let table = {
        let table = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        var methods = sqlite3_io_methods()
        // Version 2 has shared memory, and no memory map.
        methods.iVersion = 2
        methods.xClose = { file in FaultyFile.methods(file)?.xClose(base(file)) ?? SQLITE_IOERR }
        methods.xRead = { file, bytes, count, offset in
            let code = FaultyFile.methods(file)?.xRead(base(file), bytes, count, offset)
            switch fault(file, .read) {
            case nil: return code ?? SQLITE_IOERR
            case .short:
                // SQLite requires that the missing bytes are zero.
                if let bytes { memset(bytes + Int(count) / 2, 0, Int(count) - Int(count) / 2) }
                return extendedCode(SQLITE_IOERR, 2)
            default: return extendedCode(SQLITE_IOERR, 1)
            }
        }
        methods.xWrite = { file, bytes, count, offset in
            switch fault(file, .write) {
            case nil:
                return FaultyFile.methods(file)?.xWrite(base(file), bytes, count, offset)
                    ?? SQLITE_IOERR
            case .short:
                _ = FaultyFile.methods(file)?.xWrite(base(file), bytes, count / 2, offset)
                return SQLITE_FULL
            case .full: return SQLITE_FULL
            case .inputOutput: return extendedCode(SQLITE_IOERR, 3)
            }
        }
        methods.xTruncate = { file, size in
            if fault(file, .truncate) != nil { return extendedCode(SQLITE_IOERR, 6) }
            return FaultyFile.methods(file)?.xTruncate(base(file), size) ?? SQLITE_IOERR
        }
        methods.xSync = { file, flags in
            if fault(file, .sync) != nil { return extendedCode(SQLITE_IOERR, 4) }
            return FaultyFile.methods(file)?.xSync(base(file), flags) ?? SQLITE_IOERR
        }
        methods.xFileSize = { file, size in
            FaultyFile.methods(file)?.xFileSize(base(file), size) ?? SQLITE_IOERR
        }
        methods.xLock = { file, level in
            FaultyFile.methods(file)?.xLock(base(file), level) ?? SQLITE_IOERR
        }
        methods.xUnlock = { file, level in
            FaultyFile.methods(file)?.xUnlock(base(file), level) ?? SQLITE_IOERR
        }
        methods.xCheckReservedLock = { file, result in
            FaultyFile.methods(file)?.xCheckReservedLock(base(file), result) ?? SQLITE_IOERR
        }
        methods.xFileControl = { file, operation, argument in
            FaultyFile.methods(file)?.xFileControl(base(file), operation, argument)
                ?? SQLITE_NOTFOUND
        }
        methods.xSectorSize = { file in FaultyFile.methods(file)?.xSectorSize(base(file)) ?? 4096 }
        methods.xDeviceCharacteristics = { file in
            FaultyFile.methods(file)?.xDeviceCharacteristics(base(file)) ?? 0
        }
        methods.xShmMap = { file, region, size, extends, memory in
            FaultyFile.methods(file)?.xShmMap(base(file), region, size, extends, memory)
                ?? SQLITE_IOERR
        }
        methods.xShmLock = { file, offset, count, flags in
            FaultyFile.methods(file)?.xShmLock(base(file), offset, count, flags) ?? SQLITE_IOERR
        }
        methods.xShmBarrier = { file in FaultyFile.methods(file)?.xShmBarrier(base(file)) }
        methods.xShmUnmap = { file, deletes in
            FaultyFile.methods(file)?.xShmUnmap(base(file), deletes) ?? SQLITE_IOERR
        }
        table.initialize(to: methods)
        return table
    }()
}

/// An extended result code, which SQLite defines by a macro that Swift cannot import.
private func extendedCode(_ primary: Int32, _ number: Int32) -> Int32 {
    primary | (number << 8)
}
