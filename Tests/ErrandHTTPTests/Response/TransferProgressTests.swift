import ErrandHTTP
import Testing

/// The fractions of a transfer.
struct TransferProgressTests {
    @Test func fractionOfAnUploadIsKnownBeforeTheResponse() {
        var progress = TransferProgress()
        #expect(progress.fractionSent == nil && progress.fractionReceived == nil)
        progress.totalBytesToSend = 8
        progress.bytesSent = 2
        #expect(progress.fractionSent == 0.25)
        #expect(progress.fractionReceived == nil && progress.fractionCompleted == nil)
        progress.bytesSent = 8
        progress.totalBytesToReceive = 2
        progress.bytesReceived = 1
        #expect(progress.fractionSent == 1 && progress.fractionReceived == 0.5)
        #expect(progress.fractionCompleted == 0.9)
    }

    @Test func fractionNeverExceedsOne() {
        var progress = TransferProgress()
        (progress.bytesSent, progress.totalBytesToSend) = (3, 2)
        (progress.bytesReceived, progress.totalBytesToReceive) = (0, 0)
        #expect(progress.fractionSent == 1 && progress.fractionReceived == 1)
    }
}
