/// A limit of the speed at which a body is read, which `ErrandTransport` implements.
package protocol BodyPace: AnyObject, Sendable {}
