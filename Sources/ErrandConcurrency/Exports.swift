// The public interface uses HTTP types, so that implementations of `Reachability` need no other import.
@_exported public import ErrandHTTP
