// The public interface uses HTTP types, so that authors of stores need no other import.
@_exported public import ErrandHTTP
