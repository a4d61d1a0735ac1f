import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { PASSWORD } from './app.ts'
import { type ImapClient, mailIn, openImap } from './imap-client.ts'
import type { Fleet } from './mail-hosts.ts'
import { message, openSmtp } from './smtp-client.ts'
import { waitFor } from './wait.ts'

export const HOSTS = '/api/v1/platform/mail-hosts'
export const MOVES = '/api/v1/platform/mailbox-moves'
const FROM = 'sender@elsewhere.test'

/** Sends, reads and moves mail as clients and operators of several mail hosts do. */
export function actionsOn(mail: Fleet) {
  const imaps = () => mail.portOf('front', 'imaps')
  const hostNamed = async (name: string) =>
    (await mail.owner().get(`${HOSTS}/${mail.ids[name]}`)).body.data
  const moveNamed = async (id = '') => (await mail.owner().get(`${MOVES}/${id}`)).body.data

  const deliver = async (port: number, to: string, text: string, lmtp = false) => {
    const client = await openSmtp({ port, lmtp })
    try {
      return await client.send({ from: FROM, to, text })
    } finally {
      client.quit()
    }
  }
  const receive = (to: string, subject: string, body?: string) =>
    deliver(mail.portOf('front', 'smtp'), to, message(FROM, to, subject, body))
  /** Straight to a backend, which answers 451 when it does not own the mailbox. */
  const deliverTo = (host: string) => (to: string, subject: string, body?: string) =>
    deliver(mail.portOf(host, 'lmtp'), to, message(FROM, to, subject, body), true)

  const subjectsOf = async (email: string, folder = 'INBOX') =>
    (await mailIn(imaps(), email, PASSWORD, folder)).flatMap(
      (text) => /^Subject: (\S+)\r$/m.exec(text)?.[1] ?? [],
    )
  const flushQueue = () =>
    mail.owner().post('/api/v1/queue/mail-queue/flush', { reason: 'a test of mail hosts' })
  /** Mail that was deferred waits for minutes unless Postfix is asked again. */
  const arrived = (email: string, subject: string, folder = 'INBOX') =>
    waitFor(async () => {
      if ((await subjectsOf(email, folder)).includes(subject)) return true
      await flushQueue()
      await sleep(200)
      return false
    })

  const ask = (email: string, host: string) =>
    mail.owner().post(MOVES, { email, host_id: mail.ids[host] })
  const move = async (email: string, host: string) => {
    const answer = await ask(email, host)
    expect(answer.status, answer.text).toBe(202)
    return answer.body.data.moves as { id: string; email: string }[]
  }
  const ended = (moves: readonly { id: string }[]) =>
    waitFor(async () => {
      for (const { id } of moves) {
        const { state, error_message } = await moveNamed(id)
        expect(['failed', 'cancelled'], error_message).not.toContain(state)
        if (state !== 'done') return false
      }
      return true
    })
  /** Moves a mailbox, and those that belong to it, to the other backend; returns their addresses. */
  const moveAway = async (email: string): Promise<string[]> => {
    const there = await ask(email, 'one')
    const moves = there.status === 202 ? there.body.data.moves : await move(email, 'two')
    await ended(moves)
    return moves.map((one: { email: string }) => one.email).sort()
  }

  const loginStatus = async (port: number, user: string, password: string) => {
    const client = await openImap({ port })
    try {
      return (await client.login(user, password)).status
    } finally {
      client.end()
    }
  }
  const asHolder = async <T>(email: string, work: (client: ImapClient) => Promise<T>) => {
    const client = await openImap({ port: imaps() })
    try {
      expect((await client.login(email, PASSWORD)).status).toMatch(/^OK/)
      return await work(client)
    } finally {
      client.end()
    }
  }

  return {
    imaps,
    hostNamed,
    moveNamed,
    receive,
    deliverTo,
    subjectsOf,
    flushQueue,
    arrived,
    move,
    ended,
    moveAway,
    loginStatus,
    asHolder,
  }
}
