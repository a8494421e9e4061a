import ErrandTransport
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Forwards a session's delegate calls to the transfer that owns the task.
///
/// All methods run on the queue that the process's sessions share (``InlineOperationQueue``).
final class SessionDelegate: NSObject, URLSessionDataDelegate, Sendable {
    private let transfers = Mutex<[ObjectIdentifier: URLSessionTransfer]>([:])
    /// The queue on which challenges are completed.
    ///
    /// Completing a challenge inside the delegate call would deadlock.
    private let control: DispatchQueue

    init(control: DispatchQueue) { self.control = control }

    func attach(_ transfer: URLSessionTransfer, to task: URLSessionTask) {
        transfers.withLock { $0[ObjectIdentifier(task)] = transfer }
    }

    private func transfer(of task: URLSessionTask) -> URLSessionTransfer? {
        transfers.withLock { $0[ObjectIdentifier(task)] }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if let response = response as? HTTPURLResponse {
            transfer(of: dataTask)?.received(ResponseHead(response))
        }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transfer(of: dataTask)?.received(data)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64, totalBytesExpectedToSend: Int64
    ) {
        transfer(of: task)?.sent(totalBytesSent)
    }

    /// Does not follow redirects.
    ///
    /// URLSession's own redirects drop request bodies and forward credentials. The redirect is delivered as
    /// the response, and the agent's redirect policy decides.
    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    /// Responds to challenges for server trust and client certificates, and refuses all others.
    ///
    /// In FoundationNetworking (Swift 6.3.1), a task whose challenge is not completed never ends, not even by
    /// a timeout. After this refusal, the task delivers the 401 response with its body and ends with -999
    /// (cancelled); the transfer treats that as success.
    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler:
            @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        switch transfer(of: task)?.response(to: challenge) ?? .refusal {
        case .system: completionHandler(.performDefaultHandling, nil)
        case .credential(let credential): completionHandler(.useCredential, credential)
        case .failure, .refusal:
            control.async { completionHandler(.cancelAuthenticationChallenge, nil) }
        }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        completionHandler(transfer(of: task)?.streamForReplay() ?? RefusingInputStream())
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        let transfer = transfers.withLock { $0.removeValue(forKey: ObjectIdentifier(task)) }
        transfer?.completed(error)
    }
}
