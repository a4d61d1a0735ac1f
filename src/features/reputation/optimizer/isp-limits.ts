export interface IspLimit {
  hourly_limit: number
  daily_limit: number
  burst_limit: number
  delay_ms: number
  max_concurrent: number
}

/** The name for every destination that has no limits of its own. */
export const OTHERS = 'default'

const limit = (hour: number, day: number, burst: number, delay: number, concurrent: number) => ({
  hourly_limit: hour,
  daily_limit: day,
  burst_limit: burst,
  delay_ms: delay,
  max_concurrent: concurrent,
})

const gmail = limit(100, 2000, 10, 1000, 5)
const outlook = limit(300, 5000, 20, 500, 10)
const icloud = limit(200, 3000, 15, 800, 8)

/** What large providers are known to put up with from a sender, until somebody says otherwise. */
export const DEFAULT_LIMITS: Readonly<Record<string, IspLimit>> = {
  'gmail.com': gmail,
  'googlemail.com': gmail,
  'outlook.com': outlook,
  'hotmail.com': outlook,
  'live.com': outlook,
  'yahoo.com': limit(200, 3000, 15, 1000, 8),
  'aol.com': limit(100, 1500, 10, 2000, 3),
  'icloud.com': icloud,
  'me.com': icloud,
  'comcast.net': limit(150, 2000, 10, 1500, 5),
  [OTHERS]: limit(500, 10_000, 50, 100, 20),
}
