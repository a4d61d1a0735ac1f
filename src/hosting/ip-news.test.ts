import { expect, it } from 'vitest'
import { chance } from '../../test/support/traffic.ts'
import { ipNews } from './ip-news.ts'

it('a batch of logins changes the IP reputation like the single logins in sequence', () => {
  const random = chance(7)
  for (let run = 0; run < 300; run++) {
    const before = random(101)
    const logins = Array.from({ length: random(60) + 1 }, () => random(run % 2 ? 12 : 2) > 0)
    const news = ipNews()
    let score = before
    let first: number | undefined
    for (const success of logins) {
      news.login('192.0.2.1', success)
      const step = (from: number) => Math.min(100, Math.max(0, from + (success ? 0.5 : -5)))
      score = step(score)
      first = first === undefined ? (success ? 55 : 40) : step(first)
    }
    const [{ first_score, change, lowest, highest, connections } = {} as never] = news.take() as [
      ReturnType<typeof news.take>[number],
    ]
    expect(Math.min(highest, Math.max(lowest, before + change))).toBe(score)
    expect(first_score).toBe(first)
    expect(connections).toBe(logins.length)
  }
})

it('IP reputation updates normalize IP addresses and ignore invalid ones', () => {
  const news = ipNews()
  news.mail('::ffff:192.0.2.1', { messages: 1 })
  news.mail('192.0.2.1', { messages: 1, bounces: 1 })
  for (const none of ['', 'local', 'fe80::1%eth0', "'; drop table"]) news.mail(none, { spam: 1 })
  expect(news.take()).toMatchObject([{ ip: '192.0.2.1', messages: 2, bounces: 1, spam: 0 }])
  expect(news.take()).toEqual([])
})
