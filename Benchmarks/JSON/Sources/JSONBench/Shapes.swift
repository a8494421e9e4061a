import ErrandJSON

extension Document.Kind {
    /// A shape that requires every field of the document.
    var shape: JSONShape {
        switch self {
        case .twitter:
            [
                "statuses": [
                    [
                        "created_at": .string, "id": .number, "id_str": .string, "text": .string,
                        "source": .string, "truncated": .bool, "in_reply_to_status_id": .number,
                        "user": [
                            "id": .number, "name": .string, "screen_name": .string,
                            "location": .string, "description": .string,
                            "followers_count": .number, "friends_count": .number,
                            "verified": .bool, "lang": .string,
                        ],
                        "retweet_count": .number, "favorite_count": .number, "favorited": .bool,
                        "retweeted": .bool, "lang": .string,
                    ]
                ],
                "search_metadata": ["count": .number, "query": .string],
            ]
        case .canada:
            [
                "type": .string,
                "features": [
                    [
                        "type": .string, "properties": ["name": .string],
                        "geometry": ["type": .string, "coordinates": [[[.number]]]],
                    ]
                ],
            ]
        case .citm:
            [
                "performances": [
                    [
                        "eventId": .int, "id": .int, "logo": .string, "name": .string,
                        "prices": [
                            [
                                "amount": .int, "audienceSubCategoryId": .int,
                                "seatCategoryId": .int,
                            ]
                        ],
                        "seatMapImage": .string, "start": .int, "venueCode": .string,
                    ]
                ]
            ]
        }
    }
}
