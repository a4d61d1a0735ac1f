import { WINDOWS } from './windows.ts'

const list = (numbers: number[]) => `{${numbers.join(',')}}`

/*
 * The same windows as in windows.ts, as a hash per subject. Per window w: `wt` what it holds, `wo`
 * and `wn` its oldest and newest bucket, `w:<bucket>` what is in a bucket. All keys of a call belong
 * to one organization, whose id is their hash tag, so a cluster keeps them together.
 */
const STATE = `
local widths = ${list(WINDOWS.map(({ ms, buckets }) => ms / buckets))}
local lengths = ${list(WINDOWS.map(({ buckets }) => buckets))}
local spans = ${list(WINDOWS.map(({ ms }) => ms))}
local windows = #widths

local function rebase(key, state, w, current)
  local shift = state.newest - current
  for bucket = state.oldest, state.newest do
    local count = redis.call('HGET', key, w .. ':' .. bucket)
    if count then
      redis.call('HDEL', key, w .. ':' .. bucket)
      redis.call('HSET', key, w .. ':' .. (bucket - shift), count)
    end
  end
  state.oldest = state.oldest - shift
  state.newest = current
  state.own = tonumber(redis.call('HGET', key, w .. ':' .. current)) or 0
  redis.call('HSET', key, w .. 'o', state.oldest, w .. 'n', state.newest)
end

local function read(key, now)
  local fields = {}
  for w = 1, windows do
    local n = #fields
    fields[n + 1] = w .. 't'
    fields[n + 2] = w .. 'o'
    fields[n + 3] = w .. 'n'
    fields[n + 4] = w .. ':' .. math.floor(now / widths[w])
  end
  local got = redis.call('HMGET', key, unpack(fields))
  local states = {}
  for w = 1, windows do
    local at = 4 * (w - 1)
    local current = math.floor(now / widths[w])
    local state = {
      total = tonumber(got[at + 1]) or 0,
      oldest = tonumber(got[at + 2]) or current,
      newest = tonumber(got[at + 3]) or current,
      own = tonumber(got[at + 4]) or 0,
      gone = {},
    }
    if current < state.newest then
      if state.newest - current > lengths[w] then
        rebase(key, state, w, current)
      else
        current = state.newest
        state.own = tonumber(redis.call('HGET', key, w .. ':' .. current)) or 0
      end
    end
    state.current = current
    local cut = current - lengths[w]
    if state.oldest < cut then
      for bucket = state.oldest, math.min(cut - 1, state.newest) do
        state.gone[#state.gone + 1] = w .. ':' .. bucket
      end
      if #state.gone > 0 then
        for _, count in ipairs(redis.call('HMGET', key, unpack(state.gone))) do
          state.total = state.total - (tonumber(count) or 0)
        end
      end
      state.oldest = cut
    end
    states[w] = state
  end
  return states
end
`

/** Keys: a hash per bound, then the message's own, if it has a name. */
export const DECIDE = `${STATE}
local now, amount, record, bounds = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3] == '1', tonumber(ARGV[4])
local instance = KEYS[bounds + 1]
if instance and redis.call('EXISTS', instance) == 1 then return {0} end

local all = {}
for b = 1, bounds do
  local states = read(KEYS[b], now)
  for w = 1, windows do
    local limit = tonumber(ARGV[4 + 8 * (b - 1) + w])
    if limit > 0 and states[w].total + amount > limit then
      return {1, b - 1, w - 1, states[w].total}
    end
  end
  all[b] = states
end
if not record then return {0} end
if instance then redis.call('SET', instance, '1', 'PX', 600000) end

local answer = {0}
for b = 1, bounds do
  local key, fields, gone = KEYS[b], {}, {}
  for w = 1, windows do
    local state = all[b][w]
    local n = #fields
    state.total = state.total + amount
    fields[n + 1], fields[n + 2] = w .. 't', state.total
    fields[n + 3], fields[n + 4] = w .. 'o', state.oldest
    fields[n + 5], fields[n + 6] = w .. 'n', state.current
    fields[n + 7], fields[n + 8] = w .. ':' .. state.current, state.own + amount
    for _, field in ipairs(state.gone) do gone[#gone + 1] = field end
  end
  redis.call('HSET', key, unpack(fields))
  if #gone > 0 then redis.call('HDEL', key, unpack(gone)) end
  redis.call('PEXPIRE', key, ${32 * 24 * 3600 * 1000})
  for w = 3, 5 do
    local limit = tonumber(ARGV[4 + 8 * (b - 1) + w])
    for level = 0, 1 do
      local threshold = tonumber(ARGV[4 + 8 * (b - 1) + windows + 1 + level])
      if limit > 0 and all[b][w].total * 100 >= limit * threshold then
        local field = 'b' .. w .. level
        local last = tonumber(redis.call('HGET', key, field))
        if not last or now - last >= spans[w] or now < last - spans[w] then
          redis.call('HSET', key, field, now)
          local n = #answer
          answer[n + 1], answer[n + 2], answer[n + 3], answer[n + 4] = b - 1, w - 1, level, all[b][w].total
        end
      end
    end
  end
end
return answer
`

export const USAGE = `${STATE}
local counts = {}
for w, state in ipairs(read(KEYS[1], tonumber(ARGV[1]))) do counts[w] = state.total end
return counts
`
