package import Testing

extension Trait where Self == TimeLimitTrait {
    /// Ends a test that hangs, also under a sanitizer on a busy machine; no test depends on the time.
    package static var limited: Self { .timeLimit(.minutes(15)) }
}
