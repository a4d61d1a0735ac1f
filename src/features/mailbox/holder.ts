import type { Caller } from '../../access/caller.ts'
import type { Mailbox } from './script-store/script-store.ts'

/** Whose mailbox a holder's page is about: always the caller's own. */
export const holderOf = ({ id, email }: Caller): Mailbox => ({ id, email: email ?? '' })
