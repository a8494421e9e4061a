import Foundation

/// Generates a photo: a sunset over the sea, as a portable pixmap.
enum Photo {
    static func sunset(width: Int = 640, height: Int = 360) -> Data {
        var data = Data("P6\n\(width) \(height)\n255\n".utf8)
        var pixels = [UInt8]()
        pixels.reserveCapacity(width * height * 3)
        let horizon = height * 2 / 3
        let sun = (x: width / 3, y: horizon - 30, radius: 55)
        for y in 0..<height {
            for x in 0..<width {
                let (dx, dy) = (x - sun.x, y - sun.y)
                let isSun = y < horizon && dx * dx + dy * dy < sun.radius * sun.radius
                pixels += isSun ? [255, 220, 120] : sky(y, of: height, isSea: y >= horizon)
            }
        }
        data.append(contentsOf: pixels)
        return data
    }

    private static func sky(_ y: Int, of height: Int, isSea: Bool) -> [UInt8] {
        let part = 255 * y / height
        if isSea { return [UInt8((255 - part) / 2), UInt8((255 - part) / 3), UInt8(255 - part)] }
        return [UInt8(part), UInt8(part / 2), UInt8(255 - part)]
    }
}
