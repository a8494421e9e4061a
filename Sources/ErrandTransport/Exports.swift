// The public interface uses HTTP types, so that authors of transports need no other import.
@_exported public import ErrandHTTP
