/// What ``Configuration/redirectDecider`` says about a redirect that would be followed (row SES-3).
public enum RedirectVerdict: Sendable {
    /// What the request's ``RedirectPolicy`` says: follow it as proposed.
    case asPolicy
    /// Do not follow: the 3xx is the answer, and the validators judge it.
    case deliver
    /// Send this request in place of the proposed one.
    ///
    /// It must go to an http or https address, and from https to http only where the policy allows that. Where it goes
    /// to another origin than ``ProposedRedirect/original``, credentials of that one (Authorization, Cookie and their like) are
    /// taken off, also where the decider began with it; other values that the decider put on are its business.
    case follow(TransportRequest)
}

/// A redirect, as ``Configuration/redirectDecider`` sees it.
public struct ProposedRedirect: Sendable {
    /// The endpoint.
    public var description: RequestDescription
    /// The answer that redirects, from 301 to 308.
    public var response: Response
    /// The request that it answers, credentials included; they belong to its origin.
    public var original: TransportRequest
    /// What would be sent by the rules: method and body adjusted, credentials taken off where the origin changes.
    public var request: TransportRequest
    /// Its number in this row of redirects, from 1.
    public var count: Int
}
