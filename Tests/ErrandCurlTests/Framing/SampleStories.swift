/// Series of header blocks that another encoder has written, in the format of hpack-test-case.
enum SampleStories {
    static let all: [(name: String, json: String)] = [
        (
            "plain",
            #"""
            {
             "cases": [
              {
               "wire": "88760773746f72792f31611d4d6f6e2c203031204e6f7620323032362031303a30303a303020474d545f18746578742f68746d6c3b20636861727365743d7574662d384006782d746578740a636166c3a9207e605e7c6203223022770b613d303b20506174683d2f",
               "headers": [
                {
                 ":status": "200"
                },
                {
                 "server": "story/1"
                },
                {
                 "date": "Mon, 01 Nov 2026 10:00:00 GMT"
                },
                {
                 "content-type": "text/html; charset=utf-8"
                },
                {
                 "x-text": "café ~`^|"
                },
                {
                 "etag": "\"0\""
                },
                {
                 "set-cookie": "a=0; Path=/"
                }
               ]
              },
              {
               "wire": "8bc3611d4d6f6e2c203032204e6f7620323032362031303a30303a303020474d54c2c1c0770b613d313b20506174683d2f",
               "headers": [
                {
                 ":status": "304"
                },
                {
                 "server": "story/1"
                },
                {
                 "date": "Mon, 02 Nov 2026 10:00:00 GMT"
                },
                {
                 "content-type": "text/html; charset=utf-8"
                },
                {
                 "x-text": "café ~`^|"
                },
                {
                 "etag": "\"0\""
                },
                {
                 "set-cookie": "a=1; Path=/"
                }
               ]
              },
              {
               "wire": "8dc5611d4d6f6e2c203033204e6f7620323032362031303a30303a303020474d54c4c36203223122770b613d323b20506174683d2f",
               "headers": [
                {
                 ":status": "404"
                },
                {
                 "server": "story/1"
                },
                {
                 "date": "Mon, 03 Nov 2026 10:00:00 GMT"
                },
                {
                 "content-type": "text/html; charset=utf-8"
                },
                {
                 "x-text": "café ~`^|"
                },
                {
                 "etag": "\"1\""
                },
                {
                 "set-cookie": "a=2; Path=/"
                }
               ]
              },
              {
               "wire": "88c8611d4d6f6e2c203034204e6f7620323032362031303a30303a303020474d54c7c6c0770b613d333b20506174683d2f",
               "headers": [
                {
                 ":status": "200"
                },
                {
                 "server": "story/1"
                },
                {
                 "date": "Mon, 04 Nov 2026 10:00:00 GMT"
                },
                {
                 "content-type": "text/html; charset=utf-8"
                },
                {
                 "x-text": "café ~`^|"
                },
                {
                 "etag": "\"1\""
                },
                {
                 "set-cookie": "a=3; Path=/"
                }
               ]
              },
              {
               "wire": "8bca611d4d6f6e2c203035204e6f7620323032362031303a30303a303020474d54c9c86203223222770b613d343b20506174683d2f",
               "headers": [
                {
                 ":status": "304"
                },
                {
                 "server": "story/1"
                },
                {
                 "date": "Mon, 05 Nov 2026 10:00:00 GMT"
                },
                {
                 "content-type": "text/html; charset=utf-8"
                },
                {
                 "x-text": "café ~`^|"
                },
                {
                 "etag": "\"2\""
                },
                {
                 "set-cookie": "a=4; Path=/"
                }
               ]
              },
              {
               "wire": "8dcd611d4d6f6e2c203036204e6f7620323032362031303a30303a303020474d54cccbc0770b613d353b20506174683d2f",
               "headers": [
                {
                 ":status": "404"
                },
                {
                 "server": "story/1"
                },
                {
                 "date": "Mon, 06 Nov 2026 10:00:00 GMT"
                },
                {
                 "content-type": "text/html; charset=utf-8"
                },
                {
                 "x-text": "café ~`^|"
                },
                {
                 "etag": "\"2\""
                },
                {
                 "set-cookie": "a=5; Path=/"
                }
               ]
              }
             ]
            }
            """#
        ),
        (
            "huffman",
            #"""
            {
             "cases": [
              {
               "wire": "887685424f67a6036196d07abe940054d27eea0802714082e001700053168dff5f92497ca589d34d1f6a1271d882a60b532acf7f4085f2b24be53f8f20e5fffe3fffeea9ffdfffbffe7fcf6284fe41fcff77891c00fb5358d33c0c7f",
               "headers": [
                {
                 ":status": "200"
                },
                {
                 "server": "story/1"
                },
                {
                 "date": "Mon, 01 Nov 2026 10:00:00 GMT"
                },
                {
                 "content-type": "text/html; charset=utf-8"
                },
                {
                 "x-text": "café ~`^|"
                },
                {
                 "etag": "\"0\""
                },
                {
                 "set-cookie": "a=0; Path=/"
                }
               ]
              },
              {
               "wire": "8bc36196d07abe940094d27eea0802714082e001700053168dffc2c1c077891c01fb5358d33c0c7f",
               "headers": [
                {
                 ":status": "304"
                },
                {
                 "server": "story/1"
                },
                {
                 "date": "Mon, 02 Nov 2026 10:00:00 GMT"
                },
                {
                 "content-type": "text/html; charset=utf-8"
                },
                {
                 "x-text": "café ~`^|"
                },
                {
                 "etag": "\"0\""
                },
                {
                 "set-cookie": "a=1; Path=/"
                }
               ]
              },
              {
               "wire": "8dc56196d07abe94032a693f75040138a0417000b800298b46ffc4c36284fe43fcff77891c02fb5358d33c0c7f",
               "headers": [
                {
                 ":status": "404"
                },
                {
                 "server": "story/1"
                },
                {
                 "date": "Mon, 03 Nov 2026 10:00:00 GMT"
                },
                {
                 "content-type": "text/html; charset=utf-8"
                },
                {
                 "x-text": "café ~`^|"
                },
                {
                 "etag": "\"1\""
                },
                {
                 "set-cookie": "a=2; Path=/"
                }
               ]
              },
              {
               "wire": "88c86196d07abe94034a693f75040138a0417000b800298b46ffc7c6c077891c0cfda9ac699e063f",
               "headers": [
                {
                 ":status": "200"
                },
                {
                 "server": "story/1"
                },
                {
                 "date": "Mon, 04 Nov 2026 10:00:00 GMT"
                },
                {
                 "content-type": "text/html; charset=utf-8"
                },
                {
                 "x-text": "café ~`^|"
                },
                {
                 "etag": "\"1\""
                },
                {
                 "set-cookie": "a=3; Path=/"
                }
               ]
              },
              {
               "wire": "8bca6196d07abe94036a693f75040138a0417000b800298b46ffc9c86284fe45fcff77891c0d7da9ac699e063f",
               "headers": [
                {
                 ":status": "304"
                },
                {
                 "server": "story/1"
                },
                {
                 "date": "Mon, 05 Nov 2026 10:00:00 GMT"
                },
                {
                 "content-type": "text/html; charset=utf-8"
                },
                {
                 "x-text": "café ~`^|"
                },
                {
                 "etag": "\"2\""
                },
                {
                 "set-cookie": "a=4; Path=/"
                }
               ]
              },
              {
               "wire": "8dcd6196d07abe94038a693f75040138a0417000b800298b46ffcccbc077891c0dfda9ac699e063f",
               "headers": [
                {
                 ":status": "404"
                },
                {
                 "server": "story/1"
                },
                {
                 "date": "Mon, 06 Nov 2026 10:00:00 GMT"
                },
                {
                 "content-type": "text/html; charset=utf-8"
                },
                {
                 "x-text": "café ~`^|"
                },
                {
                 "etag": "\"2\""
                },
                {
                 "set-cookie": "a=5; Path=/"
                }
               ]
              }
             ]
            }
            """#
        ),
        (
            "sizes",
            #"""
            {
             "cases": [
              {
               "wire": "887685424f67a6036196d07abe940054d27eea0802714082e001700053168dff5f92497ca589d34d1f6a1271d882a60b532acf7f4085f2b24be53f8f20e5fffe3fffeea9ffdfffbffe7fcf6284fe41fcff77891c00fb5358d33c0c7f",
               "headers": [
                {
                 ":status": "200"
                },
                {
                 "server": "story/1"
                },
                {
                 "date": "Mon, 01 Nov 2026 10:00:00 GMT"
                },
                {
                 "content-type": "text/html; charset=utf-8"
                },
                {
                 "x-text": "café ~`^|"
                },
                {
                 "etag": "\"0\""
                },
                {
                 "set-cookie": "a=0; Path=/"
                }
               ]
              },
              {
               "wire": "8bc36196d07abe940094d27eea0802714082e001700053168dffc2c1c077891c01fb5358d33c0c7f",
               "headers": [
                {
                 ":status": "304"
                },
                {
                 "server": "story/1"
                },
                {
                 "date": "Mon, 02 Nov 2026 10:00:00 GMT"
                },
                {
                 "content-type": "text/html; charset=utf-8"
                },
                {
                 "x-text": "café ~`^|"
                },
                {
                 "etag": "\"0\""
                },
                {
                 "set-cookie": "a=1; Path=/"
                }
               ]
              },
              {
               "header_table_size": 100,
               "wire": "3f458d7685424f67a6036196d07abe94032a693f75040138a0417000b800298b46ff5f92497ca589d34d1f6a1271d882a60b532acf7f4085f2b24be53f8f20e5fffe3fffeea9ffdfffbffe7fcf6284fe43fcff77891c02fb5358d33c0c7f",
               "headers": [
                {
                 ":status": "404"
                },
                {
                 "server": "story/1"
                },
                {
                 "date": "Mon, 03 Nov 2026 10:00:00 GMT"
                },
                {
                 "content-type": "text/html; charset=utf-8"
                },
                {
                 "x-text": "café ~`^|"
                },
                {
                 "etag": "\"1\""
                },
                {
                 "set-cookie": "a=2; Path=/"
                }
               ]
              },
              {
               "wire": "887685424f67a6036196d07abe94034a693f75040138a0417000b800298b46ff5f92497ca589d34d1f6a1271d882a60b532acf7f4085f2b24be53f8f20e5fffe3fffeea9ffdfffbffe7fcf6284fe43fcff77891c0cfda9ac699e063f",
               "headers": [
                {
                 ":status": "200"
                },
                {
                 "server": "story/1"
                },
                {
                 "date": "Mon, 04 Nov 2026 10:00:00 GMT"
                },
                {
                 "content-type": "text/html; charset=utf-8"
                },
                {
                 "x-text": "café ~`^|"
                },
                {
                 "etag": "\"1\""
                },
                {
                 "set-cookie": "a=3; Path=/"
                }
               ]
              },
              {
               "header_table_size": 1000,
               "wire": "3fc9078b7685424f67a6036196d07abe94036a693f75040138a0417000b800298b46ff5f92497ca589d34d1f6a1271d882a60b532acf7f4085f2b24be53f8f20e5fffe3fffeea9ffdfffbffe7fcf6284fe45fcff77891c0d7da9ac699e063f",
               "headers": [
                {
                 ":status": "304"
                },
                {
                 "server": "story/1"
                },
                {
                 "date": "Mon, 05 Nov 2026 10:00:00 GMT"
                },
                {
                 "content-type": "text/html; charset=utf-8"
                },
                {
                 "x-text": "café ~`^|"
                },
                {
                 "etag": "\"2\""
                },
                {
                 "set-cookie": "a=4; Path=/"
                }
               ]
              },
              {
               "wire": "8dc36196d07abe94038a693f75040138a0417000b800298b46ffc2c1c077891c0dfda9ac699e063f",
               "headers": [
                {
                 ":status": "404"
                },
                {
                 "server": "story/1"
                },
                {
                 "date": "Mon, 06 Nov 2026 10:00:00 GMT"
                },
                {
                 "content-type": "text/html; charset=utf-8"
                },
                {
                 "x-text": "café ~`^|"
                },
                {
                 "etag": "\"2\""
                },
                {
                 "set-cookie": "a=5; Path=/"
                }
               ]
              }
             ]
            }
            """#
        ),
    ]
}
