import { type Doveadm, DoveadmAway, NO_SUCH_USER, NOT_FOUND } from './doveadm.ts'

/** Dovecot must answer a request in time, however many sessions it ends. */
const MASKS_AT_ONCE = 25
const TIMEOUT_SECONDS = 30

/** Both mean that there is no session to end. */
const IS_NONE = new Set<number | undefined>([NOT_FOUND, NO_SUCH_USER])

/**
 * The addresses of all clients. `kick` knows no protocols, but a delivery has no address, so it goes on: its
 * mail may be stored already, and Postfix would deliver it again. Dovecot takes /0 for no network.
 */
const ALL_CLIENTS = ['0.0.0.0/1', '128.0.0.0/1', '::/1', '8000::/1']

/**
 * Ends the sessions of logins, or of all logins of a domain (`*@acme.example`). Returns those whose sessions
 * may still be open, because their host does not answer. A command that is being run may come to its end.
 */
export async function endSessions(doveadm: Doveadm, masks: readonly string[]): Promise<string[]> {
  const left: string[] = []
  for (let at = 0; at < masks.length; at += MASKS_AT_ONCE) {
    left.push(...(await endSome(doveadm, masks.slice(at, at + MASKS_AT_ONCE))))
  }
  return left
}

async function endSome(doveadm: Doveadm, masks: readonly string[]): Promise<readonly string[]> {
  try {
    const answers = await doveadm.run(
      masks.flatMap((mask) => ALL_CLIENTS.map((clients) => ['kick', { mask: [mask, clients] }])),
      TIMEOUT_SECONDS,
    )
    const isEnded = answers.map(({ rows, exitCode }) => rows || IS_NONE.has(exitCode))
    return masks.filter(
      (_, at) => !ALL_CLIENTS.every((_, n) => isEnded[at * ALL_CLIENTS.length + n]),
    )
  } catch (error) {
    if (error instanceof DoveadmAway) return masks
    throw error
  }
}
