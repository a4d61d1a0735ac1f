import { DAY_MS } from '../../../lib/time.ts'
import { WATCHED, WINDOWS } from './windows.ts'

const list = (numbers: number[]) => `{${numbers.join(',')}}`
const DAYS_32_MS = 32 * DAY_MS

/*
 * The same windows as in windows.ts. Two keys per subject: a string with what every decision needs,
 * and a hash with the buckets that are full, which changes only when a window moves on. The string
 * has four numbers per window (total, oldest bucket, newest bucket, count of the newest), then the
 * time of the last event of each threshold. All keys of a call belong to one organization, whose id
 * is their hash tag, so a cluster keeps them together.
 */
const STATE = `
local widths = ${list(WINDOWS.map(({ ms, buckets }) => ms / buckets))}
local lengths = ${list(WINDOWS.map(({ buckets }) => buckets))}
local spans = ${list(WINDOWS.map(({ ms }) => ms))}
local windows = #widths
local format = '<${'d'.repeat(4 * WINDOWS.length + 2 * WATCHED.length)}'
local floor = math.floor

-- Set back by more than the window: what was counted moves with the clock.
local function rebase(state, at, w, buckets, current)
  local shift = state[at + 3] - current
  for bucket = state[at + 2], state[at + 3] - 1 do
    local count = redis.call('HGET', buckets, w .. ':' .. bucket)
    if count then
      redis.call('HDEL', buckets, w .. ':' .. bucket)
      redis.call('HSET', buckets, w .. ':' .. (bucket - shift), count)
    end
  end
  state[at + 2] = state[at + 2] - shift
  state[at + 3] = current
end

local function drop(state, at, w, buckets, cut, last)
  local gone = {}
  for bucket = state[at + 2], math.min(cut - 1, last) do gone[#gone + 1] = w .. ':' .. bucket end
  if #gone > 0 then
    for _, count in ipairs(redis.call('HMGET', buckets, unpack(gone))) do
      if count then state[at + 1] = state[at + 1] - tonumber(count) end
    end
    redis.call('HDEL', buckets, unpack(gone))
  end
  state[at + 2] = cut
end

local function read(key, buckets, now)
  local blob = redis.call('GET', key)
  local state
  if blob then
    state = {struct.unpack(format, blob)}
  else
    state = {}
    for w = 1, windows do
      local at, current = 4 * (w - 1), floor(now / widths[w])
      state[at + 1], state[at + 2], state[at + 3], state[at + 4] = 0, current, current, 0
    end
    for step = 1, ${2 * WATCHED.length} do state[4 * windows + step] = 0 end
  end
  local moved = false
  for w = 1, windows do
    local at, current = 4 * (w - 1), floor(now / widths[w])
    local newest = state[at + 3]
    if current < newest and newest - current > lengths[w] then
      rebase(state, at, w, buckets, current)
      moved = true
    elseif current > newest then
      if state[at + 4] > 0 then
        redis.call('HSET', buckets, w .. ':' .. newest, state[at + 4])
        redis.call('PEXPIRE', buckets, ${DAYS_32_MS})
        state[at + 4] = 0
      end
      state[at + 3] = current
      if state[at + 2] < current - lengths[w] then
        drop(state, at, w, buckets, current - lengths[w], newest)
      end
      moved = true
    end
  end
  return state, moved
end

local function write(key, state)
  redis.call('SET', key, struct.pack(format, unpack(state, 1, ${4 * WINDOWS.length + 2 * WATCHED.length})), 'PX', ${DAYS_32_MS})
end
`

/** Two keys per bound, then one for the message if it has an instance. */
export const DECIDE = `${STATE}
local now, record, bounds = tonumber(ARGV[1]), ARGV[2] == '1', tonumber(ARGV[3])
local amounts = {}
for w = 1, windows do amounts[w] = tonumber(ARGV[3 + w]) end
local before = 3 + windows
local instance = KEYS[2 * bounds + 1]
if instance and redis.call('EXISTS', instance) == 1 then return {0} end

local all = {}
for b = 1, bounds do
  local state, moved = read(KEYS[2 * b - 1], KEYS[2 * b], now)
  if moved then write(KEYS[2 * b - 1], state) end
  for w = 1, windows do
    local limit, total = tonumber(ARGV[before + 8 * (b - 1) + w]), state[4 * (w - 1) + 1]
    if limit > 0 and amounts[w] > 0 and total + amounts[w] > limit then return {1, b - 1, w - 1, total} end
  end
  all[b] = state
end
if not record then return {0} end
if instance then redis.call('SET', instance, '1', 'PX', 600000) end

local answer = {0}
for b = 1, bounds do
  local state = all[b]
  for w = 1, windows do
    local at = 4 * (w - 1)
    state[at + 1] = state[at + 1] + amounts[w]
    state[at + 4] = state[at + 4] + amounts[w]
  end
  for index, w in ipairs(${list(WATCHED.map((window) => window + 1))}) do
    local limit, total = tonumber(ARGV[before + 8 * (b - 1) + w]), state[4 * (w - 1) + 1]
    for level = 0, 1 do
      local threshold = tonumber(ARGV[before + 8 * (b - 1) + windows + 1 + level])
      local told = 4 * windows + 2 * (index - 1) + level + 1
      local last = state[told]
      local due = last == 0 or now - last >= spans[w] or now < last - spans[w]
      if limit > 0 and due and total * 100 >= limit * threshold then
        state[told] = now
        local n = #answer
        answer[n + 1], answer[n + 2], answer[n + 3], answer[n + 4] = b - 1, w - 1, level, total
      end
    end
  end
  write(KEYS[2 * b - 1], state)
end
return answer
`

export const USAGE = `${STATE}
local state, moved = read(KEYS[1], KEYS[2], tonumber(ARGV[1]))
if moved then write(KEYS[1], state) end
local counts = {}
for w = 1, windows do counts[w] = state[4 * (w - 1) + 1] end
return counts
`
