import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import type { Tx } from '../../../database/database.ts'
import { limiter, namedMutex } from '../../../lib/mutex.ts'
import {
  FiltersNotRead,
  FiltersNotSaved,
  Refusal,
  ScriptRefused,
  SieveNotConfigured,
  SieveUnavailable,
} from '../../../mail/managesieve/errors.ts'
import type { Session } from '../../../mail/managesieve/session.ts'
import { lockScripts } from './script-store.repository.ts'

const MAX_DIAGNOSTIC = 2000

/** What can go wrong on every route that reads, and on every one that saves. */
export const READ_ERRORS = [FiltersNotRead, SieveNotConfigured, SieveUnavailable]
export const SAVE_ERRORS = [ScriptRefused, FiltersNotSaved, SieveNotConfigured, SieveUnavailable]

export interface Mailbox {
  id: string
  email: string
}

export type ScriptStore = ReturnType<typeof scriptStore>

/** The scripts of mailboxes, which live on the mail server and nowhere else. */
export function scriptStore({ change, config, sieve }: Pick<Core, 'change' | 'config' | 'sieve'>) {
  const oneAtATime = namedMutex()
  // A mail server that has gone to sleep must not hold every transaction of this process.
  const inTransaction = limiter(Math.max(1, Math.floor(config.DATABASE_POOL / 4)))

  return {
    isAvailable: () => sieve.isAvailable(),

    read: <Result>(email: string, work: (session: Session) => Promise<Result>): Promise<Result> =>
      refusing(FiltersNotRead, () => sieve.session(email, work)),

    /**
     * Reads, decides and writes while nobody else does, in any process. The transaction has what
     * belongs to the change; the scripts are written just before it commits, so that a refusal
     * leaves no trace, and a request that broke off may be sent again.
     */
    edit: <Result>(
      caller: Caller,
      { id, email }: Mailbox,
      work: (session: Session, tx: Tx) => Promise<Result>,
    ): Promise<Result> =>
      refusing(FiltersNotSaved, () =>
        oneAtATime([id], () =>
          sieve.session(email, (session) =>
            inTransaction(() =>
              change(caller, async (tx) => {
                await lockScripts(tx, id)
                return work(session, tx)
              }),
            ),
          ),
        ),
      ),
  }
}

async function refusing<Result>(
  Otherwise: typeof FiltersNotRead,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    // The compiler gives no code, only its words.
    const byCompiler = error.command === 'PUTSCRIPT' && error.code === ''
    if (byCompiler || error.code.startsWith('QUOTA')) {
      throw new ScriptRefused(error.message.trim().slice(0, MAX_DIAGNOSTIC))
    }
    throw new Otherwise()
  }
}
