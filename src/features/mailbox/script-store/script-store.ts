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

/** Errors of every route that reads scripts, and of every route that saves them. */
export { noteForwarding, noteVacation } from './script-store.repository.ts'

export const READ_ERRORS = [FiltersNotRead, SieveNotConfigured, SieveUnavailable]
export const SAVE_ERRORS = [ScriptRefused, FiltersNotSaved, SieveNotConfigured, SieveUnavailable]

export interface Mailbox {
  id: string
  email: string
}

export type ScriptStore = ReturnType<typeof scriptStore>

/** The scripts of mailboxes. They are stored on the mail server only. */
export function scriptStore({ change, config, sieve }: Pick<Core, 'change' | 'config' | 'sieve'>) {
  const oneAtATime = namedMutex()
  // A mail server that hangs must not occupy every transaction of this process.
  const inTransaction = limiter(Math.max(1, Math.floor(config.DATABASE_POOL / 4)))

  return {
    isAvailable: () => sieve.isAvailable(),

    read: <Result>(email: string, work: (session: Session) => Promise<Result>): Promise<Result> =>
      refusing(FiltersNotRead, () => sieve.session(email, work)),

    /**
     * Reads, decides and writes under a lock that holds across processes. The scripts are written just
     * before the transaction commits: a refusal leaves no trace, and an interrupted request can be
     * sent again.
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
    // The compiler returns no error code, only a text.
    const byCompiler = error.command === 'PUTSCRIPT' && error.code === ''
    if (byCompiler || error.code.startsWith('QUOTA')) {
      throw new ScriptRefused(error.message.trim().slice(0, MAX_DIAGNOSTIC))
    }
    throw new Otherwise()
  }
}
