import { describe, expect, it } from 'vitest'
import type { DoveadmAnswer, DoveadmCommand } from '../../../../mail/doveadm.ts'
import { DoveadmAway } from '../../../../mail/doveadm.ts'
import { copyRest, deadlineIn } from './copy-mailbox.ts'

const { signal } = new AbortController()
const OK = { rows: [] }
const counted = (messages: number) => ({ rows: [{ mailbox: 'INBOX', messages: `${messages}` }] })

/** A copy between two hosts whose Dovecots answer with these functions. */
function copying(answers: Record<string, () => DoveadmAnswer>, there = () => counted(1)) {
  const asked: string[] = []
  const from = {
    isConfigured: true,
    run: async (commands: readonly DoveadmCommand[]) =>
      commands.map(([name]) => {
        asked.push(name)
        return answers[name]?.() ?? OK
      }),
  }
  const to = { isConfigured: true, run: async () => [there()] }
  const target = {
    id: 'two',
    name: 'two',
    address: '127.0.0.1',
    sync_port: 1,
    isBackend: true,
    isAway: false,
    doveadm_url: 'http://127.0.0.1:1',
  }
  return { asked, hosts: { login: 'ada@acme.test', from, to, target } }
}

describe('the last copy of a mailbox', () => {
  it('ends when sessions do not end in time', async () => {
    const { asked, hosts } = copying({
      who: () => ({ rows: [{ service: 'imap' }, { service: 'lmtp' }] }),
    })
    await expect(copyRest(hosts, deadlineIn(0), signal)).rejects.toThrow(
      'sessions or deliveries do not end',
    )
    expect(asked).toContain('kick')
    expect(asked).not.toContain('sync')
  })

  it('ends when Dovecot takes longer than the deadline', async () => {
    const { hosts } = copying({
      sync: () => {
        throw new DoveadmAway('the request to Dovecot failed')
      },
    })
    await expect(copyRest(hosts, deadlineIn(0), signal)).rejects.toThrow('longer than 0 seconds')
    await expect(copyRest(hosts, deadlineIn(60), signal)).rejects.toThrow(DoveadmAway)
  })

  it('is repeated when mail was delivered meanwhile', async () => {
    let looks = 0
    const { asked, hosts } = copying(
      {
        who: () => ({ rows: ++looks === 2 ? [{ service: 'lmtp' }] : [] }),
        mailboxStatus: () => counted(2),
      },
      () => counted(asked.filter((name) => name === 'sync').length),
    )
    expect(await copyRest(hosts, deadlineIn(60), signal)).toBe(2)
    expect(asked.filter((name) => name === 'sync')).toHaveLength(2)
  })

  it('fails when both mailboxes stay different', async () => {
    const { asked, hosts } = copying({ mailboxStatus: () => counted(2) })
    await expect(copyRest(hosts, deadlineIn(60), signal)).rejects.toThrow('the copy differs')
    expect(asked.filter((name) => name === 'backup')).toHaveLength(1)
  })
})
