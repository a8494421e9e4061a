// ErrandCore re-exports the types that users name. ErrandTransport is not among them: only authors of transports need it.
@_exported public import ErrandHTTP
