/// The task of a member in progress: of a request, a nested composite, or a closure of a graph's node.
package protocol MemberTask: AnyObject, Sendable {
    /// The progress of the member.
    var hub: ProgressHub { get }
    func cancel()
    func suspend()
    func resume()
}
