package import ErrandHTTP

/// A status code of a close frame.
package typealias CloseCode = WebSocketClose.Code
