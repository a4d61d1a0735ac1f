import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import type { Db } from '../../../database/database.ts'
import { Unprocessable } from '../../../errors.ts'
import { protectsLinks } from '../../../hosting/link-protection.repository.ts'
import { isAddress } from '../../../sieve/address.ts'
import { type Forwarding, forwarding, MAX_ADDRESSES } from '../../../sieve/forwarding.ts'
import { holderOf } from '../holder.ts'
import { readComponent, saveComponent } from '../script-store/layout.ts'
import { noteForwarding, type ScriptStore } from '../script-store/script-store.ts'

export type ForwardingService = ReturnType<typeof forwardingService>

export const forwardingService = (scripts: ScriptStore, { db }: Pick<Core, 'db'>) => ({
  async get(caller: Caller) {
    const { email } = holderOf(caller)
    const { settings, managed } = await scripts.read(email, (session) =>
      readComponent(session, forwarding),
    )
    return { ...settings, managed, loses_signatures: await losesSignatures(db, caller) }
  },

  async save(caller: Caller, sent: Partial<Forwarding>) {
    const holder = holderOf(caller)
    const settings = cleaned(sent, holder.email)
    await scripts.edit(caller, holder, async (session, tx) => {
      await noteForwarding(tx, holder.id, settings)
      await saveComponent(session, forwarding.name, forwarding.write(settings))
    })
    return { ...settings, managed: true, loses_signatures: await losesSignatures(db, caller) }
  },
})

/** Rewritten links change a message after its author signed it. */
const losesSignatures = (db: Db, { organizationId }: Caller): Promise<boolean> =>
  protectsLinks(db, organizationId ?? '')

function cleaned(sent: Partial<Forwarding>, ownAddress: string): Forwarding {
  const { enabled = false, keep_copy = true } = sent
  // Duplicates are found in lower case; the first spelling is kept.
  const known = new Map<string, string>()
  for (const text of sent.addresses ?? []) {
    const address = text.trim()
    const name = address.toLowerCase()
    if (isAddress(address) && name !== ownAddress && !known.has(name)) known.set(name, address)
  }
  const addresses = [...known.values()]
  if (addresses.length > MAX_ADDRESSES) {
    throw new Unprocessable(`You can forward to at most ${MAX_ADDRESSES} addresses`)
  }
  if (enabled && addresses.length === 0) {
    throw new Unprocessable(
      'Add an address to forward to, or turn forwarding off; a mailbox cannot forward to itself',
    )
  }
  return { enabled, addresses, keep_copy }
}
