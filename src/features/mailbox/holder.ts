import type { Caller } from '../../access/caller.ts'
import type { Mailbox } from './script-store/script-store.ts'

/** The mailbox of a holder's request: always the caller's own. */
export const holderOf = ({ id, email }: Caller): Mailbox => ({ id, email: email ?? '' })
