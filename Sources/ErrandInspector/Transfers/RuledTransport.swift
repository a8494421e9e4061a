import ErrandHTTP
import ErrandJSON
import ErrandSystem
import ErrandTransport
import HTTPTypes

/// Performs one transfer according to rules, with another transport or without the network.
///
/// The pipeline, the streams and the download files above it receive the response as from the network.
struct RuledTransport: Transport {
    let inner: any Transport
    let plan: TransferRules.Plan
    /// The speed limit of the request; `nil` if there is none.
    let pace: TransferPace?
    let clock: any RequestClock

    var name: String { inner.name }

    func check(_ request: TransportRequest) throws(RequestError) { try inner.check(request) }

    func start(_ request: TransportRequest, receiver: any TransferReceiver) -> any Transfer {
        let fault = plan.result.flatMap { $0.action == .fault ? $0.error : nil }
        let transfer = ShapedTransfer(
            receiver, ResponseDelivery(fault: fault, afterBytes: plan.result?.afterBytes),
            pace: pace, clock: clock)
        guard !plan.isSimulated else {
            transfer.begin(SimulatedTransfer())
            if let fault {
                transfer.didEnd(TransferEnd(error: fault))
            } else if let rule = plan.result {
                Self.deliver(rule, to: transfer, method: request.method)
            }
            return transfer
        }
        var request = request
        if let pace { request.body = request.body?.paced(by: pace) }
        transfer.begin(inner.start(request, receiver: transfer))
        return transfer
    }

    func shutDown() { inner.shutDown() }

    /// Delivers the response of a mock; the transfer keeps the bytes that its receiver does not take yet.
    private static func deliver(
        _ rule: TransferRule, to transfer: ShapedTransfer, method: HTTPMethod
    ) {
        let body = Data((rule.body ?? "").utf8)
        let sendsBody = !body.isEmpty && method != .head
        var head = rule.head(body)
        head.contentLength = sendsBody ? Int64(body.count) : 0
        transfer.didReceive(head: head)
        if sendsBody { _ = body.withUnsafeBytes { transfer.didReceive(bytes: $0) } }
        transfer.didEnd(TransferEnd())
    }

    /// A transfer that has nothing to do.
    private final class SimulatedTransfer: Transfer {
        func cancel() {}
        func resumeReceiving() {}
    }
}

extension TransferRule {
    /// The error of a fault.
    fileprivate var error: RequestError {
        let fault = fault ?? .connectionLost
        let place = afterBytes.map { " after \($0) bytes of the body" } ?? ""
        return RequestError(
            fault.code, stage: .transport,
            "The inspector simulated this error (\(fault.rawValue))\(place).",
            timeout: fault == .timedOut ? .idle : nil)
    }

    /// The head of a mock; `Content-Type` and `Content-Length` are added if they are missing.
    fileprivate func head(_ body: Data) -> ResponseHead {
        var fields = HTTPFields()
        for header in headers ?? [] {
            guard let name = HTTPField.Name(header.name) else { continue }
            fields.append(HTTPField(name: name, value: header.value))
        }
        if !body.isEmpty {
            if fields[.contentType] == nil {
                let isJSON = (try? JSON(parsing: body)) != nil
                fields[.contentType] = isJSON ? "application/json" : "text/plain; charset=utf-8"
            }
            if fields[.contentLength] == nil { fields[.contentLength] = "\(body.count)" }
        }
        return ResponseHead(
            status: HTTPResponse.Status(code: status ?? 200), headers: fields)
    }
}

extension TransferRule.Fault {
    fileprivate var code: RequestError.Code {
        switch self {
        case .timedOut: .timedOut
        case .cannotFindHost: .cannotFindHost
        case .cannotConnect: .cannotConnect
        case .connectionLost: .connectionLost
        case .secureConnectionFailed: .secureConnectionFailed
        case .truncatedBody: .truncatedBody
        }
    }
}
