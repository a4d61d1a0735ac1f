import { randomUUID } from 'node:crypto'
import type { Core } from '../core.ts'

const CHANNEL = 'mailplane:logins'

/** A login of a mail program that was counted. */
export interface CountedLogin {
  ip: string
  user: string
  outcome: 'success' | 'failure' | 'invalid_token'
}

/**
 * Tells the other processes what this one has counted, so that limits hold for all of them together.
 * While Redis is away, each process counts for itself.
 */
export function sharedLogins(redis: Core['redis'], heard: (login: CountedLogin) => void) {
  if (!redis) return { tell: () => {}, stop: () => {} }
  const origin = randomUUID()
  const subscription = redis.subscribe(CHANNEL, (content) => {
    const message = parse(content)
    if (message && message.origin !== origin) heard(message)
  })
  return {
    tell(login: CountedLogin): void {
      const message = JSON.stringify({ ...login, origin })
      // The link logs that Redis is away.
      redis
        .connection()
        .then((client) => client.publish(CHANNEL, message))
        .catch(() => {})
    },
    stop: () => subscription.close(),
  }
}

function parse(content: Buffer): (CountedLogin & { origin: string }) | undefined {
  try {
    const message = JSON.parse(content.toString())
    const { ip, user, outcome, origin } = message
    const texts = [ip, user, outcome, origin]
    return texts.every((one) => typeof one === 'string') ? message : undefined
  } catch {
    return undefined
  }
}
