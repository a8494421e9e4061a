// swift-tools-version: 6.2
import PackageDescription

// The WebSocket client of SwiftNIO, for Benchmarks/websockets.
let package = Package(
    name: "NIOEcho",
    platforms: [.macOS(.v15)],
    dependencies: [.package(url: "https://github.com/apple/swift-nio.git", from: "2.80.0")],
    targets: [
        .executableTarget(
            name: "NIOEcho",
            dependencies: [
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOWebSocket", package: "swift-nio"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
