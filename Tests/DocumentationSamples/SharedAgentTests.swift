import Testing

/// The suites that configure the shared agent: one test at a time.
@Suite(.serialized)
enum SharedAgentTests {}
