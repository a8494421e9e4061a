import Foundation

/// A generated document for the benchmarks.
struct Document {
    var name: String
    var kind: Kind
    var data: Data

    enum Kind { case twitter, canada, citm }
}

/// A deterministic random number generator.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

/// Generates documents similar to three that are common in JSON benchmarks.
enum Documents {
    static func all(sizes: [(String, Int)]) -> [Document] {
        sizes.flatMap { name, size in
            [
                Document(name: "twitter \(name)", kind: .twitter, data: twitter(size)),
                Document(name: "canada \(name)", kind: .canada, data: canada(size)),
                Document(name: "citm \(name)", kind: .citm, data: citm(size)),
            ]
        }
    }

    private static let words = [
        "the", "network", "of", "errands", "runs", "日本語の文章", "です", "caf\\u00e9", "naïve",
        "http:\\/\\/t.co\\/abc", "and", "then", "said", "@someone", "#swift", "はい", "\\n", "for",
    ]

    /// Statuses with users: many short keys, and strings of which some are not ASCII.
    static func twitter(_ size: Int) -> Data {
        var random = SplitMix(state: 1)
        var text = #"{"statuses":["#
        var id = 505_874_924_095_815_681
        while text.utf8.count < size {
            if text.hasSuffix("}") { text += "," }
            id += Int.random(in: 1...9999, using: &random)
            let status = (0..<Int.random(in: 8...24, using: &random)).map { _ in
                words.randomElement(using: &random) ?? ""
            }.joined(separator: " ")
            let count = Int.random(in: 0...5000, using: &random)
            text += """
                {"created_at":"Sun Aug 31 00:29:15 +0000 2014","id":\(id),"id_str":"\(id)",\
                "text":"\(status)","source":"<a href=\\"https:\\/\\/example.com\\">web<\\/a>",\
                "truncated":false,"in_reply_to_status_id":null,"user":{"id":\(id % 100_000_000),\
                "name":"AYUMI \(count)","screen_name":"ayuu0123","location":"名古屋",\
                "description":"元野球部マネージャー❤︎","followers_count":\(count),\
                "friends_count":\(count / 2),"verified":false,"lang":"en"},"retweet_count":\(count),\
                "favorite_count":0,"favorited":false,"retweeted":false,"lang":"ja"}
                """
        }
        return Data((text + #"],"search_metadata":{"count":100,"query":"%E4%B8%80"}}"#).utf8)
    }

    /// Polygons: mostly floating point numbers with many digits.
    static func canada(_ size: Int) -> Data {
        var random = SplitMix(state: 2)
        var text = #"{"type":"FeatureCollection","features":["#
        var isFirst = true
        while text.utf8.count < size {
            if !isFirst { text += "," }
            isFirst = false
            let points = (0..<Int.random(in: 8...60, using: &random)).map { _ in
                let x = Double.random(in: -141 ... -52, using: &random)
                let y = Double.random(in: 41...83, using: &random)
                return "[\(x),\(y)]"
            }.joined(separator: ",")
            text += #"{"type":"Feature","properties":{"name":"Canada"},"geometry":"#
            text += #"{"type":"Polygon","coordinates":[[\#(points)]]}}"#
        }
        return Data((text + "]}").utf8)
    }

    /// Performances and prices, pretty-printed: white space, integers and nulls.
    static func citm(_ size: Int) -> Data {
        var random = SplitMix(state: 3)
        var text = "{\n  \"performances\": ["
        var isFirst = true
        while text.utf8.count < size {
            text += isFirst ? "\n" : ",\n"
            isFirst = false
            let id = Int.random(in: 100_000_000...400_000_000, using: &random)
            let prices = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                """
                        {
                          "amount": \(Int.random(in: 10...300, using: &random) * 250),
                          "audienceSubCategoryId": 337100890,
                          "seatCategoryId": \(id + 7)
                        }
                """
            }.joined(separator: ",\n")
            text += """
                    {
                      "eventId": \(id),
                      "id": \(id + 1),
                      "logo": null,
                      "name": null,
                      "prices": [
                \(prices)
                      ],
                      "seatMapImage": null,
                      "start": 13\(id)000,
                      "venueCode": "PLEYEL_PLEYEL"
                    }
                """
        }
        return Data((text + "\n  ]\n}\n").utf8)
    }
}
