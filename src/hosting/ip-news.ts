import { isIpAddress, normalizeIp } from '../lib/ip.ts'

/** The sums of recent events of one IP address, ready to be stored. */
export interface IpNews {
  ip: string
  /** The score when the IP address has no row yet. */
  first_score: number
  /** Added to the stored score, which is then clamped to `lowest` and `highest`. */
  change: number
  lowest: number
  highest: number
  connections: number
  messages: number
  spam: number
  bounces: number
  auth_failures: number
}

const LOWEST = 0
const HIGHEST = 100
const UNKNOWN = 50
const AFTER_SUCCESS = 55
const AFTER_FAILURE = 40
const SUCCESS = 0.5
const FAILURE = -5

const within = (score: number) => Math.min(HIGHEST, Math.max(LOWEST, score))

type Seen = Partial<Pick<IpNews, 'messages' | 'spam' | 'bounces'>>

/**
 * Adds up events of IP addresses. Each login changes a score within its bounds; a run of logins is
 * folded into one change and two bounds, so that it needs one update of a row.
 */
export function ipNews() {
  const known = new Map<string, IpNews>()

  function newsOf(sent: string): IpNews | undefined {
    if (!isIpAddress(sent)) return undefined
    const ip = normalizeIp(sent)
    const found = known.get(ip)
    if (found) return found
    const news = {
      ip,
      first_score: UNKNOWN,
      change: 0,
      lowest: LOWEST,
      highest: HIGHEST,
      connections: 0,
      messages: 0,
      spam: 0,
      bounces: 0,
      auth_failures: 0,
    }
    known.set(ip, news)
    return news
  }

  return {
    login(ip: string, success: boolean): void {
      const news = newsOf(ip)
      if (!news) return
      const step = success ? SUCCESS : FAILURE
      const first = success ? AFTER_SUCCESS : AFTER_FAILURE
      news.first_score = news.connections === 0 ? first : within(news.first_score + step)
      news.change += step
      news.lowest = within(news.lowest + step)
      news.highest = within(news.highest + step)
      news.connections++
      if (!success) news.auth_failures++
    },
    mail(ip: string, { messages = 0, spam = 0, bounces = 0 }: Seen): void {
      const news = newsOf(ip)
      if (!news) return
      news.messages += messages
      news.spam += spam
      news.bounces += bounces
    },
    get size() {
      return known.size
    },
    /** Returns all sums and starts again from zero. */
    take(): IpNews[] {
      const all = [...known.values()]
      known.clear()
      return all
    },
  }
}
