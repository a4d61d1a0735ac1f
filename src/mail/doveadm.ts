import type { CurrentMailServers } from './mail-servers.ts'

const TIMEOUT_SECONDS = 5

/**
 * A command of Dovecot's administration interface, as `GET /doveadm/v1` lists them. `owner` names the
 * mailbox whose host runs a command that has no parameter `user`.
 */
export type DoveadmCommand = readonly [
  name: string,
  parameters: Record<string, unknown>,
  owner?: string,
]

/** The result of one command: rows of text, or the exit status of `doveadm`. */
export type DoveadmAnswer =
  | { rows: Record<string, string>[]; exitCode?: undefined }
  | { rows?: undefined; exitCode: number; type: string }

/** Exit status: Dovecot does not know the mailbox. */
export const NO_SUCH_USER = 67
/** Exit status: the folder does not exist, or nothing matched. */
export const NOT_FOUND = 68

/** Exit status of sysexits.h: Dovecot, or the host of the mailbox, cannot answer now. */
export const TEMPORARY_FAILURE = 75

/** Dovecot is unreachable, rejects the key, or returned no valid response in time. */
export class DoveadmAway extends Error {}

export interface Doveadm {
  /** False while DOVEADM_URL is not set. */
  readonly isConfigured: boolean
  /** Sends all commands in one request; returns the answers in the same order. */
  run(commands: readonly DoveadmCommand[], timeoutSeconds?: number): Promise<DoveadmAnswer[]>
}

type Raw = [kind: string, result: unknown, tag: string]

export const doveadm = (mailServers: CurrentMailServers): Doveadm => ({
  get isConfigured() {
    return mailServers.current().DOVEADM_URL !== undefined
  },
  async run(commands, timeoutSeconds) {
    const { DOVEADM_URL: url, DOVEADM_API_KEY: key = '' } = mailServers.current()
    if (url === undefined) throw new DoveadmAway('DOVEADM_URL is not set')
    return doveadmAt(url, key).run(commands, timeoutSeconds)
  },
})

/** The Dovecot at this URL. */
export const doveadmAt = (url: string, key: string): Doveadm => ({
  isConfigured: true,
  async run(commands, timeoutSeconds = TIMEOUT_SECONDS) {
    if (commands.length === 0) return []
    const body = JSON.stringify(
      commands.map(([name, parameters], tag) => [name, parameters, String(tag)]),
    )
    const answers = await post(url, key, body, timeoutSeconds)
    return commands.map(([name], tag) => {
      const answer = answers.find(([, , answerTag]) => answerTag === String(tag))
      if (!answer) throw new DoveadmAway(`Dovecot left ${name} unanswered`)
      return read(answer)
    })
  },
})

async function post(url: string, key: string, body: string, seconds: number): Promise<Raw[]> {
  try {
    const response = await fetch(new URL('/doveadm/v1', url), {
      method: 'POST',
      headers: {
        authorization: `X-Dovecot-API ${Buffer.from(key).toString('base64')}`,
        'content-type': 'application/json',
      },
      body,
      signal: AbortSignal.timeout(seconds * 1000),
      redirect: 'error',
    })
    const answers = response.ok ? await response.json() : undefined
    if (Array.isArray(answers)) return answers as Raw[]
    await response.body?.cancel().catch(() => {})
    throw new DoveadmAway(`Dovecot answered with status ${response.status}`)
  } catch (error) {
    if (error instanceof DoveadmAway) throw error
    throw new DoveadmAway('the request to Dovecot failed', { cause: error })
  }
}

function read([kind, result]: Raw): DoveadmAnswer {
  if (kind === 'doveadmResponse') return { rows: rowsOf(result) }
  const { exitCode = 0, type = kind } = (result ?? {}) as { exitCode?: number; type?: string }
  return { exitCode, type }
}

/** `user` answers with an object of users and their fields, every other command with a list. */
function rowsOf(result: unknown): Record<string, string>[] {
  if (Array.isArray(result)) return result
  return Object.entries((result ?? {}) as Record<string, Record<string, string>>).map(
    ([user, fields]) => ({ user, ...fields }),
  )
}
