// swift-tools-version: 6.2
import PackageDescription

// The coverage-guided fuzzers of the HTTP/1.1 response parser, of the framing of HTTP/2, of WebSocket and of the parsers
// of streamed bodies.
// `make fuzz` builds and runs them.
let package = Package(
    name: "Fuzzing",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "errand", path: "..")],
    targets: [
        .target(
            name: "ResponseParserFuzz",
            dependencies: [
                .product(name: "ErrandCurl", package: "errand"),
                .product(name: "ErrandTransport", package: "errand"),
            ],
            // The parser's types are visible only within the package errand.
            swiftSettings: [.unsafeFlags(["-package-name", "errand"])]
        ),
        .target(
            name: "FramingFuzz",
            dependencies: [
                "TestSupport",
                .product(name: "ErrandCurl", package: "errand"),
                .product(name: "ErrandTransport", package: "errand"),
            ],
            swiftSettings: [.unsafeFlags(["-package-name", "errand"])]
        ),
        .target(
            name: "MessageFuzz",
            dependencies: ["TestSupport", .product(name: "ErrandWebSocket", package: "errand")]
        ),
        // What several test targets or fuzzers share.
        .target(name: "TestSupport"),
        .target(
            name: "StreamParsersFuzz",
            dependencies: [.product(name: "ErrandCore", package: "errand")],
            swiftSettings: [.unsafeFlags(["-package-name", "errand"])]
        ),
        // In C: SwiftPM renames the main function of executables in Swift, and libFuzzer has its
        // own.
        .executableTarget(name: "HTTP1Fuzz", dependencies: ["ResponseParserFuzz"]),
        .executableTarget(name: "HTTP2Fuzz", dependencies: ["FramingFuzz"]),
        .executableTarget(name: "WebSocketFuzz", dependencies: ["MessageFuzz"]),
        .executableTarget(name: "StreamFuzz", dependencies: ["StreamParsersFuzz"]),
    ],
    swiftLanguageModes: [.v6]
)
