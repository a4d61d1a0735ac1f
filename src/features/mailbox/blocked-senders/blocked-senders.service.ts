import type { Caller } from '../../../access/caller.ts'
import { Unprocessable } from '../../../errors.ts'
import { isAddress, isSameAddress } from '../../../sieve/address.ts'
import { blockedSenders, JUNK } from '../../../sieve/blocked-senders.ts'
import { holderOf } from '../holder.ts'
import { readComponent, saveComponent } from '../script-store/layout.ts'
import type { ScriptStore } from '../script-store/script-store.ts'

const MAX_BLOCKED = 500

export type BlockedSenderService = ReturnType<typeof blockedSenderService>

export function blockedSenderService(scripts: ScriptStore) {
  /** `change` returns the new list, or undefined when nothing has to be written. */
  const edited = (caller: Caller, change: (addresses: string[]) => string[] | undefined) =>
    scripts.edit(caller, holderOf(caller), async (session) => {
      const { settings, managed } = await readComponent(session, blockedSenders)
      const addresses = change(settings)
      if (!addresses) return { isChanged: false, list: listed(settings, managed) }
      await saveComponent(session, blockedSenders.name, blockedSenders.write(addresses))
      return { isChanged: true, list: listed(addresses, true) }
    })

  return {
    async list(caller: Caller) {
      const { settings, managed } = await scripts.read(holderOf(caller).email, (session) =>
        readComponent(session, blockedSenders),
      )
      return listed(settings, managed)
    },

    block(caller: Caller, sent: string) {
      const address = cleaned(sent)
      if (!address) throw new Unprocessable('Enter a valid email address to block')
      if (isSameAddress(address, holderOf(caller).email)) {
        throw new Unprocessable('A mailbox cannot block its own address')
      }
      return edited(caller, (addresses) => {
        if (addresses.includes(address)) return undefined
        if (addresses.length >= MAX_BLOCKED) {
          throw new Unprocessable(`You can block at most ${MAX_BLOCKED} senders`)
        }
        return [...addresses, address]
      })
    },

    unblock(caller: Caller, sent: string) {
      const address = cleaned(sent)
      if (!address) throw new Unprocessable('That is not a valid email address')
      return edited(caller, (addresses) =>
        addresses.includes(address) ? addresses.filter((one) => one !== address) : undefined,
      )
    },
  }
}

const listed = (addresses: string[], managed: boolean) => ({
  addresses,
  managed,
  folder: JUNK,
  limit: MAX_BLOCKED,
})

/** Returns undefined for anything but an e-mail address. Copied addresses may have angle brackets. */
function cleaned(sent: string): string | undefined {
  const address = sent
    .trim()
    .replace(/^<(.*)>$/s, '$1')
    .toLowerCase()
  return isAddress(address) ? address : undefined
}
