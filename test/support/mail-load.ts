import { setTimeout as sleep } from 'node:timers/promises'
import { mailIn, openImap } from './imap-client.ts'
import { message, openSmtp } from './smtp-client.ts'

interface Target {
  ports: { smtp: number; submission: number; imaps: number; lmtp: number }
  user: string
  password: string
}

/** A reply that no retry would change: a lost message or a login that its owner believes is wrong. */
export interface Permanent {
  kind: string
  reply: string
}

const RUN = Date.now().toString(36)
const PAUSE_MS = 100
const PATIENCE_MS = 20_000
const RECOVERY_MS = 300_000
const FROM = 'somebody@elsewhere.test'

/** A retry may succeed. */
class Temporary extends Error {}

/** No limit of messages: the clients send more than a mailbox may. */
export const WITHOUT_LIMITS = Object.fromEntries(
  ['ORG', 'DOMAIN', 'MAILBOX'].flatMap((entity) =>
    ['OUTBOUND', 'INBOUND'].flatMap((direction) =>
      ['SECOND', 'MINUTE', 'HOURLY', 'DAILY', 'MONTHLY', 'BURST'].map((window) => [
        `${entity}_${direction}_${window}_DEFAULT`,
        '0',
      ]),
    ),
  ),
) as Record<string, string>

/**
 * Clients that send and log in without a pause: SMTP from outside, submission with a login, IMAP and
 * LMTP. They count replies and remember which messages a server has accepted.
 */
export function startMailLoad({ ports, user, password }: Target) {
  const counts = { accepted: 0, temporary: 0, logins: 0 }
  const permanent: Permanent[] = []
  const accepted = new Set<string>()
  /** The connection broke after the message: the server may have accepted it. */
  const unknown = new Set<string>()
  let number = 0
  let isStopped = false
  let lastFailedStart = 0
  const lastSuccess: Record<string, number> = {}

  const judge = (kind: string, code: number, reply: string): boolean => {
    if (code < 400) {
      lastSuccess[kind] = Date.now()
      return true
    }
    if (code < 500) throw new Temporary(reply)
    permanent.push({ kind, reply })
    return false
  }
  const send = async (kind: string, client: Awaited<ReturnType<typeof openSmtp>>, from: string) => {
    const id = `${kind}-${RUN}-${++number}`
    unknown.add(id)
    const reply = await client.send({ from, to: user, text: message(from, user, id) })
    unknown.delete(id)
    if (!judge(kind, reply.code, reply.text)) return
    counts.accepted++
    accepted.add(id)
  }

  const kinds: Record<string, () => Promise<void>> = {
    async smtp() {
      const client = await openSmtp({ port: ports.smtp, patienceMs: PATIENCE_MS })
      await send('smtp', client, FROM).finally(() => client.quit())
    },
    async submission() {
      const client = await openSmtp({ port: ports.submission, patienceMs: PATIENCE_MS })
      try {
        await client.startTls()
        const login = await client.auth(user, password)
        if (!judge('login', login.code, login.text)) return
        counts.logins++
        await send('submission', client, user)
      } finally {
        client.quit()
      }
    },
    async imap() {
      const client = await openImap({ port: ports.imaps, patienceMs: PATIENCE_MS })
      try {
        const { ok, status } = await client.login(user, password)
        if (ok) counts.logins++
        judge('imap', ok ? 200 : status.includes('[UNAVAILABLE]') ? 400 : 500, status)
      } finally {
        client.end()
      }
    },
    async lmtp() {
      const client = await openSmtp({ port: ports.lmtp, lmtp: true, patienceMs: PATIENCE_MS })
      await send('lmtp', client, FROM).finally(() => client.quit())
    },
  }

  const repeat = async (work: () => Promise<void>) => {
    while (!isStopped) {
      const begin = Date.now()
      await work().catch(() => {
        counts.temporary++
        lastFailedStart = Math.max(lastFailedStart, begin)
      })
      await sleep(PAUSE_MS)
    }
  }
  const loops = Object.values(kinds).map(repeat)

  return {
    counts,
    permanent,
    /** The time at which the last attempt that failed began. */
    get lastFailedStart() {
      return lastFailedStart
    },
    /** Resolves when every kind of client has had a success after the call. */
    async succeeds() {
      const begin = Date.now()
      const isBack = (kind: string) => (lastSuccess[kind] ?? 0) > begin
      while (!Object.keys(kinds).every(isBack)) {
        if (Date.now() - begin > RECOVERY_MS) throw new Error('the mail servers do not recover')
        await sleep(PAUSE_MS)
      }
    },
    async stop() {
      isStopped = true
      await Promise.all(loops)
    },
    /** The messages that are not, or more than once, in the mailbox. */
    async missing() {
      const found = new Map<string, number>()
      for (const text of await mailIn(ports.imaps, user, password)) {
        const id = /^Subject: (\w+-\w+-\d+)\r$/m.exec(text)?.[1]
        if (id) found.set(id, (found.get(id) ?? 0) + 1)
      }
      return {
        lost: [...accepted].filter((id) => !found.has(id)),
        doubled: [...found]
          .filter(([id, count]) => count > 1 && !unknown.has(id))
          .map(([id]) => id),
      }
    },
  }
}
