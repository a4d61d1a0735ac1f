import type { Config } from '../config.ts'

const TIMEOUT_MS = 5000

export type Command = [name: string, parameters: Record<string, unknown>]

/** What Dovecot did: the rows it answers with, or the status its command ended with. */
export type Outcome = { rows: unknown } | { exitCode: number; type: string }

/** 67, EX_NOUSER of sysexits.h. */
export const NO_SUCH_USER = 67

/** Dovecot's HTTP administration interface. */
export interface Doveadm {
  readonly isConfigured: boolean
  /** Runs commands one after the other; throws when Dovecot cannot be asked at all. */
  run(commands: readonly Command[], timeoutMs?: number): Promise<Outcome[]>
}

export function doveadm(config: Pick<Config, 'DOVEADM_URL' | 'DOVEADM_API_KEY'>): Doveadm {
  return {
    get isConfigured() {
      return config.DOVEADM_URL !== undefined
    },
    async run(commands, timeoutMs = TIMEOUT_MS) {
      // Read now: a private edge may have come up since the start.
      const { DOVEADM_URL: url, DOVEADM_API_KEY: key = '' } = config
      if (url === undefined) throw new Error('there is no Dovecot to ask; set DOVEADM_URL')
      const response = await fetch(new URL('/doveadm/v1', url), {
        method: 'POST',
        headers: {
          authorization: `X-Dovecot-API ${Buffer.from(key).toString('base64')}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify(commands.map(([name, parameters], n) => [name, parameters, `${n}`])),
        signal: AbortSignal.timeout(timeoutMs),
        redirect: 'error',
      })
      if (!response.ok) throw new Error(`Dovecot answers with status ${response.status}`)
      const answers = (await response.json()) as [string, unknown, string][]
      if (!Array.isArray(answers) || answers.length !== commands.length) {
        throw new Error('Dovecot answers something else')
      }
      return answers.map(([kind, what]) =>
        kind === 'doveadmResponse' ? { rows: what } : (what as { exitCode: number; type: string }),
      )
    },
  }
}
