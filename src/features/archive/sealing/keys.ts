import { readFile } from 'node:fs/promises'
import type { Core } from '../../../core.ts'
import type { Tx } from '../../../database/database.ts'
import {
  type AgeIdentity,
  type AgeRecipient,
  newIdentity,
  readIdentity,
  readRecipient,
} from '../../../lib/age.ts'
import { lruMap } from '../../../lib/lru-map.ts'
import { ulid } from '../../../lib/ulid.ts'
import { StartupError } from '../../../startup-error.ts'
import * as keys from './keys.repository.ts'

const PURPOSE = 'archive identity'
const MAX_PARSED = 1000

export interface ReadKeys {
  own_key: string | null
  platform_key: string | null
}

export type ArchiveKeys = ReturnType<typeof archiveKeys>

/**
 * The keys of the archive. Every message is sealed for the platform and for its organization, and for the
 * recipient of DR_AGE_RECIPIENT if there is one. An organization that brings its own recipient can open its
 * objects without this host.
 */
export function archiveKeys({
  config,
  db,
  now,
  vault,
}: Pick<Core, 'config' | 'db' | 'now' | 'vault'>) {
  const opened = (row: { sealed_identity: Buffer | null }): AgeIdentity[] => {
    if (row.sealed_identity === null) return []
    const identity = readIdentity(vault.open(PURPOSE, Buffer.from(row.sealed_identity)))
    return identity ? [identity] : []
  }

  let inFile: Promise<AgeIdentity[]> | undefined
  /** The identities of the operator's file; none without a file. */
  const fromFile = (): Promise<AgeIdentity[]> => {
    const path = config.ARCHIVE_AGE_IDENTITY_FILE
    inFile ??= path === undefined ? Promise.resolve([]) : readIdentities(path)
    return inFile
  }

  /** Creates a key where none is; of several processes one wins and the others read its key. */
  async function current(organizationId: string | null): Promise<string> {
    const found = await keys.current(db, organizationId)
    if (found) return found.recipient
    const identity = newIdentity()
    await keys.insert(db, rowOf(organizationId, identity), now())
    return (await keys.current(db, organizationId))?.recipient ?? identity.recipient.text
  }

  const rowOf = (organization_id: string | null, identity: AgeIdentity): keys.KeyRow => ({
    id: ulid(),
    organization_id,
    recipient: identity.recipient.text,
    sealed_identity: vault.seal(PURPOSE, identity.text),
  })

  const parsed = lruMap<string, AgeRecipient>(MAX_PARSED)
  function parse(text: string): AgeRecipient {
    const recipient = parsed.get(text) ?? readRecipient(text)
    if (!recipient) throw new Error(`the archive has an unusable recipient ${text}`)
    parsed.set(text, recipient)
    return recipient
  }

  async function platformRecipient(known?: string | null): Promise<string> {
    const [first] = await fromFile()
    return first ? first.recipient.text : (known ?? current(null))
  }

  const platformIdentities = async (): Promise<AgeIdentity[]> => [
    ...(await fromFile()),
    ...(await keys.listFor(db, null)).flatMap(opened),
  ]

  return {
    /** The recipients of a new message; keys that the caller has read already are not read again. */
    async recipientsFor(organizationId: string, read?: ReadKeys): Promise<AgeRecipient[]> {
      const own = read?.own_key ?? (await current(organizationId))
      const texts = [await platformRecipient(read?.platform_key), own]
      if (config.DR_AGE_RECIPIENT !== undefined) texts.push(config.DR_AGE_RECIPIENT.toLowerCase())
      return texts.map(parse)
    },

    /** Everything that may open an object of the organization, the current keys first. */
    async identitiesFor(organizationId: string): Promise<AgeIdentity[]> {
      const rows = await keys.listFor(db, organizationId)
      return [...(await fromFile()), ...rows.flatMap(opened)]
    },

    /** Replaces the key of an organization; without a recipient a new one is generated here. */
    async replace(tx: Tx, organizationId: string | null, recipient: string | null): Promise<void> {
      await keys.retire(tx, organizationId, now())
      const row =
        recipient === null
          ? rowOf(organizationId, newIdentity())
          : { id: ulid(), organization_id: organizationId, recipient, sealed_identity: null }
      await keys.insert(tx, row, now())
    },

    currentOf: (organizationId: string) => keys.current(db, organizationId),

    /** The identities of the platform, which open the objects of every organization. */
    platformIdentities,

    /** Opening needs the identity of the platform: without it the archive could only be written. */
    async verify(): Promise<void> {
      const recipient = await platformRecipient()
      if (recipient === config.DR_AGE_RECIPIENT?.toLowerCase()) {
        throw new StartupError('DR_AGE_RECIPIENT is the recipient of the archive itself')
      }
      const known = await platformIdentities()
      if (!known.some((identity) => identity.recipient.text === recipient)) {
        throw new StartupError('the identity of the archive cannot be opened')
      }
    },
  }
}

/** One identity per line; empty lines and comments as `age-keygen` writes them are skipped. */
async function readIdentities(path: string): Promise<AgeIdentity[]> {
  const text = await readFile(path, 'utf8').catch((error: Error) => {
    throw new StartupError(`ARCHIVE_AGE_IDENTITY_FILE cannot be read: ${error.message}`)
  })
  const lines = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
  const identities = lines.map((line) => readIdentity(line))
  if (identities.length === 0 || identities.includes(undefined)) {
    throw new StartupError('ARCHIVE_AGE_IDENTITY_FILE must hold one AGE-SECRET-KEY-1… per line')
  }
  return identities as AgeIdentity[]
}
