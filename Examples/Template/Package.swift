// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Template",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [.library(name: "Template", targets: ["Template"])],
    dependencies: [
        .package(name: "errand", path: "../..")
    ],
    targets: [
        .target(name: "Template", dependencies: [.product(name: "Errand", package: "errand")]),
        .testTarget(
            name: "TemplateTests",
            dependencies: ["Template", .product(name: "ErrandTesting", package: "errand")],
            exclude: ["Cassettes"]),
    ]
)
