/// Where a body goes instead of memory.
///
/// Called serially on the transport's thread.
package protocol ResponseSink: AnyObject, Sendable {
    /// Looks at the final head: true takes the body, false has it collected in memory, as the body of an
    /// error. An error ends the transfer.
    func accept(_ head: ResponseHead) -> Result<Bool, RequestError>

    /// Takes bytes; an error ends the transfer.
    func write(_ bytes: UnsafeRawBufferPointer) -> RequestError?

    /// The end, when the body was taken: what the response's body is, or why it cannot be had. Also called
    /// with the transfer's error, so that what was written so far is kept or thrown away.
    func finish(_ error: RequestError?) -> Result<Response.Body, RequestError>
}
