#if Redis
    /// A Lua script, which the server performs atomically.
    ///
    /// Scripts name keys that are not among their `KEYS`, so they need a server without cluster mode.
    struct StoreScript: Sendable {
        let source: String
        /// The SHA-1 of the source, which `SCRIPT LOAD` returns, is known to the connection.
        let index: Int

        /// All scripts, in the order of ``index``.
        static let all = [store, remove, sweep, release]

        /// Removes an entry, its parts and its index; `P` is the prefix.
        private static let forget = """
            local P = ARGV[1]
            local function forget(id)
              local summary = redis.call('HGET', P .. 'm', id)
              if summary then
                local size, tag, user, write, parts =
                  string.match(summary, '^(%d+);([^;]*);([^;]*);([^;]*);(%d+)$')
                if size then
                  for part = 0, tonumber(parts) - 1 do
                    redis.call('UNLINK', P .. 'b:' .. write .. ':' .. part)
                  end
                  redis.call('ZREM', P .. 't:' .. tag, id)
                  redis.call('ZREM', P .. 'u:' .. user, id)
                  redis.call('HDEL', P .. 'm', id)
                  redis.call('DECRBY', P .. 'c', size)
                end
              end
              redis.call('ZREM', P .. 'x', id)
            end
            local function milliseconds()
              local time = redis.call('TIME')
              return time[1] * 1000 + math.floor(time[2] / 1000)
            end
            local function sweep(count)
              local ids = redis.call(
                'ZRANGEBYSCORE', P .. 'x', '-inf', milliseconds(), 'LIMIT', 0, count)
              for _, id in ipairs(ids) do
                redis.call('UNLINK', P .. 'e:' .. id)
                forget(id)
              end
              return #ids
            end

            """

        /// Arguments: prefix, id, record, time to live in ms, summary, size, tag, digest of the
        /// identity.
        ///
        /// Also ends the fetch lease of the key, since its entry exists now, and removes a few
        /// entries whose time to live is over.
        static let store = StoreScript(
            source: forget + """
                local id, record, ttl, summary = ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5]
                local size, tag, user = ARGV[6], ARGV[7], ARGV[8]
                redis.call('SET', P .. 'e:' .. id, record, 'PX', ttl)
                redis.call('UNLINK', P .. 'l:' .. id)
                forget(id)
                local removal = milliseconds() + ttl
                redis.call('ZADD', P .. 'x', removal, id)
                redis.call('ZADD', P .. 't:' .. tag, removal, id)
                redis.call('ZADD', P .. 'u:' .. user, removal, id)
                redis.call('HSET', P .. 'm', id, summary)
                redis.call('INCRBY', P .. 'c', size)
                sweep(10)
                return 1
                """, index: 0)

        /// Arguments: prefix, `always` or the beginning of the only record that is removed, ids.
        ///
        /// Returns the number of entries that existed.
        static let remove = StoreScript(
            source: forget + """
                local condition, count = ARGV[2], 0
                for index = 3, #ARGV do
                  local id = ARGV[index]
                  local key = P .. 'e:' .. id
                  local matches = condition == 'always'
                  if not matches then
                    local current = redis.pcall('GETRANGE', key, 0, #condition - 1)
                    matches = type(current) == 'table' or current == condition
                  end
                  if matches then
                    count = count + redis.call('UNLINK', key)
                    forget(id)
                  end
                end
                return count
                """, index: 1)

        /// Arguments: prefix, count.
        ///
        /// Removes entries whose time to live is over; returns their number.
        static let sweep = StoreScript(
            source: forget + "return sweep(tonumber(ARGV[2]))", index: 2)

        /// Arguments: key of the lease, token.
        ///
        /// Removes the lease if it has the token.
        static let release = StoreScript(
            source: """
                if redis.call('GET', ARGV[1]) == ARGV[2] then
                  return redis.call('UNLINK', ARGV[1])
                end
                return 0
                """, index: 3)

        /// The command with the digest of the script.
        func command(sha: String, _ arguments: [RedisCommand.Part]) -> RedisCommand {
            RedisCommand(["EVALSHA", .text(sha), "0"] + arguments)
        }

        /// The command with the source of the script, for a server that does not know it.
        func command(_ arguments: [RedisCommand.Part]) -> RedisCommand {
            RedisCommand(["EVAL", .text(source), "0"] + arguments)
        }
    }
#endif
