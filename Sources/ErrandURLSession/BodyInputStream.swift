import ErrandTransport
import Foundation

/// An input stream over a body source that never returns `.wait`.
///
/// FoundationNetworking (Swift 6.3.1) treats a stream without available bytes as ended, and a stream that
/// blocks stalls all sessions of the process. A source that may wait is therefore copied first; see
/// ``BodyBuffer``.
final class BodyInputStream: InputStream {
    private let source: any BodySource
    private let failed: @Sendable (RequestError) -> Void
    private let activity: @Sendable () -> Void
    private let progress: ReadProgress

    init(
        _ source: any BodySource, activity: @escaping @Sendable () -> Void,
        failed: @escaping @Sendable (RequestError) -> Void
    ) {
        self.source = source
        self.activity = activity
        self.failed = failed
        progress = ReadProgress(length: source.length ?? 0)
        super.init(data: Data())
    }

    override func open() {}
    override func close() {}
    override var streamStatus: Stream.Status { progress.isDone ? .atEnd : .open }
    override var streamError: (any Error)? { nil }
    override var hasBytesAvailable: Bool { !progress.isDone }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        activity()
        guard maxLength > 0, !progress.isDone else { return 0 }
        switch source.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: maxLength)) {
        case .bytes(let count):
            progress.add(count)
            return count
        case .end:
            progress.finish()
            return 0
        case .failed(let error):
            failed(error)
            return -1
        case .wait:
            failed(
                RequestError(
                    .bodyReadFailed, stage: .transport,
                    "The body source returned .wait, which an input stream cannot report."))
            return -1
        }
    }
}

/// A stream whose reads fail, so that URLSession ends the task instead of sending the request again.
final class RefusingInputStream: InputStream {
    init() { super.init(data: Data()) }

    override func open() {}
    override func close() {}
    override var streamStatus: Stream.Status { .open }
    override var streamError: (any Error)? { nil }
    override var hasBytesAvailable: Bool { true }
    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int { -1 }
}
