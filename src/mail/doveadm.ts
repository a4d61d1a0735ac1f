import type { Config } from '../config.ts'

const TIMEOUT_SECONDS = 5

/** A command of Dovecot's administration interface, as `GET /doveadm/v1` lists them. */
export type DoveadmCommand = readonly [name: string, parameters: Record<string, unknown>]

/** What came of one command: rows of text, or the status that the command line would have ended with. */
export type DoveadmAnswer =
  | { rows: Record<string, string>[]; exitCode?: undefined }
  | { rows?: undefined; exitCode: number; type: string }

/** The mailbox is not known to Dovecot. */
export const NO_SUCH_USER = 67
/** The folder is not there, or nothing was found to work on. */
export const NOT_FOUND = 68

/** Dovecot could not be asked: nobody there, wrong key, no answer in time, or not an answer. */
export class DoveadmAway extends Error {}

export interface Doveadm {
  /** False while nobody has said where Dovecot is. */
  readonly isConfigured: boolean
  /** One request for all of them; the answers are in the order of the commands. */
  run(commands: readonly DoveadmCommand[], timeoutSeconds?: number): Promise<DoveadmAnswer[]>
}

type Settings = Pick<Config, 'DOVEADM_URL' | 'DOVEADM_API_KEY'>
type Raw = [kind: string, result: unknown, tag: string]

/** The settings are read at every use: a mail server may be given, or move, while we run. */
export const doveadm = (config: Settings): Doveadm => ({
  get isConfigured() {
    return config.DOVEADM_URL !== undefined
  },
  async run(commands, timeoutSeconds = TIMEOUT_SECONDS) {
    const { DOVEADM_URL: url, DOVEADM_API_KEY: key = '' } = config
    if (url === undefined) throw new DoveadmAway('DOVEADM_URL is not set')
    if (commands.length === 0) return []
    const body = JSON.stringify(commands.map(([name, given], tag) => [name, given, String(tag)]))
    const answers = await post(url, key, body, timeoutSeconds)
    return commands.map(([name], tag) => {
      const found = answers.find((answer) => answer[2] === String(tag))
      if (!found) throw new DoveadmAway(`Dovecot left ${name} unanswered`)
      return read(found)
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
    throw new DoveadmAway('Dovecot could not be asked', { cause: error })
  }
}

function read([kind, result]: Raw): DoveadmAnswer {
  if (kind === 'doveadmResponse') return { rows: Array.isArray(result) ? result : [] }
  const { exitCode = 0, type = kind } = (result ?? {}) as { exitCode?: number; type?: string }
  return { exitCode, type }
}
