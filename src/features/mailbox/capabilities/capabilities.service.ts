import type { Caller } from '../../../access/caller.ts'
import { holderOf } from '../holder.ts'
import type { ScriptStore } from '../script-store/script-store.ts'

export type MailboxCapabilityService = ReturnType<typeof mailboxCapabilityService>

export const mailboxCapabilityService = (scripts: Pick<ScriptStore, 'isAvailable'>) => ({
  async get(caller: Caller) {
    // Blocked senders have no word of their own: they come and go with these three.
    const filters = await scripts.isAvailable()
    return {
      email_address: holderOf(caller).email,
      capabilities: {
        mail: true,
        send: true,
        settings: true,
        two_factor: true,
        rules: filters,
        forwarding: filters,
        vacation: filters,
        ai: false,
      },
    }
  },
})
