public import ErrandCore
public struct URLSessionTransport: Transport { public init() {}; public var name: String { "" }; public func check(_ request: TransportRequest) throws(RequestError) {}
 public func start(_ request: TransportRequest, receiver: any TransferReceiver) -> any Transfer { preconditionFailure() }; public func shutDown() {} }
