// swift-tools-version: 6.2
import PackageDescription

// The coverage-guided fuzzer of the HTTP/1.1 response parser. `make fuzz` builds and runs it.
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
        // In C: SwiftPM renames the main function of executables in Swift, and libFuzzer has its
        // own.
        .executableTarget(name: "HTTP1Fuzz", dependencies: ["ResponseParserFuzz"]),
    ],
    swiftLanguageModes: [.v6]
)
