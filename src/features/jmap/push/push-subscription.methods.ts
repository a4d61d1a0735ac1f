import { lockCredential } from '../../../access/mail-credentials.ts'
import { DAY_SECONDS } from '../../../lib/time.ts'
import { randomToken, sameSecret } from '../../../lib/tokens.ts'
import { ulid } from '../../../lib/ulid.ts'
import { idsArgument, isDate, utcDate } from '../core/arguments.ts'
import { invalidProperties, JmapError } from '../core/errors.ts'
import { CORE } from '../core/limits.ts'
import type { JmapParts, Login, PlainMethod } from '../core/method.ts'
import { type Patch, setObjects } from '../core/set-objects.ts'
import { pick, propertiesArgument } from '../core/standard-methods.ts'
import {
  credentialColumns,
  insertSubscription,
  ownSubscriptions,
  type PushRow,
  subscriptionsOf,
} from './push.repository.ts'
import { arePushKeys } from './web-push.ts'

const MAX_SUBSCRIPTIONS = 20
const MAX_LIFE_MS = 30 * DAY_SECONDS * 1000
const MAX_TEXT = 2000
/** RFC 8620 section 7.2: URL and keys are not shown. */
const PROPERTIES = ['id', 'deviceClientId', 'verificationCode', 'expires', 'types']

const shownSubscription = (row: PushRow) => ({
  id: row.id,
  deviceClientId: row.device_id,
  verificationCode: row.is_verified ? row.verification_code : null,
  expires: utcDate(row.expires_at),
  types: row.types,
})

const get: PlainMethod = {
  capability: CORE,
  async runPlain({ core }, login, args) {
    const ids = idsArgument(args)
    const hidden = Array.isArray(args.properties) ? args.properties : []
    if (hidden.includes('url') || hidden.includes('keys')) throw new JmapError('forbidden')
    const properties = propertiesArgument(args, PROPERTIES)
    const rows = await ownSubscriptions(core.db, login)
    const shown = rows.map(shownSubscription).filter(({ id }) => !ids || ids.includes(id))
    const found = new Set(shown.map(({ id }) => id))
    return {
      list: shown.map((one) => pick(one, properties)),
      notFound: (ids ?? []).filter((id) => !found.has(id)),
    }
  },
}

const set: PlainMethod = {
  capability: CORE,
  isWriting: true,
  async runPlain(parts, login, args) {
    const {
      oldState: _,
      newState: __,
      ...result
    } = await setObjects(args, new Map(), {
      state: async () => '0',
      create: (object) => create(parts, login, object),
      update: (id, patch) => update(parts, login, id, patch),
      destroy: (id) => destroy(parts, login, id),
    })
    return result
  },
}

const isShort = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= MAX_TEXT && !value.includes('\0')

const areTypes = (value: unknown): value is string[] | null =>
  value === null || (Array.isArray(value) && value.length <= 20 && value.every(isShort))

/** The end that a client wants, or the latest one. */
function expiryOf(value: unknown, now: Date): Date {
  const latest = new Date(now.getTime() + MAX_LIFE_MS)
  if (value === undefined || value === null) return latest
  if (!isDate(value) || new Date(value) <= now) throw invalidProperties(['expires'])
  return new Date(Math.min(new Date(value).getTime(), latest.getTime()))
}

async function create(parts: JmapParts, login: Login, object: Patch) {
  const { core, pushes } = parts
  const { holder } = login
  const { deviceClientId, url, keys = null, types = null, expires, ...unknown } = object
  const names = Object.keys(unknown)
  if (names.length > 0) throw invalidProperties(names)
  if (!isShort(deviceClientId)) throw invalidProperties(['deviceClientId'])
  if (!isShort(url) || !/^https:/i.test(url)) throw invalidProperties(['url'], 'Use an https URL')
  const problem = core.outbound.problemOf(url)
  if (problem !== undefined) throw invalidProperties(['url'], problem)
  if (keys !== null && !arePushKeys(keys)) throw invalidProperties(['keys'])
  if (!areTypes(types)) throw invalidProperties(['types'])
  const expiry = expiryOf(expires, core.now())
  if ((await subscriptionsOf(core.db, holder.id)).length >= MAX_SUBSCRIPTIONS) {
    throw new JmapError('overQuota', { description: `There are ${MAX_SUBSCRIPTIONS} already` })
  }
  const row = {
    id: `P${ulid()}`,
    email_account_id: holder.id,
    device_id: deviceClientId,
    url,
    keys,
    types,
    verification_code: randomToken(),
    expires_at: expiry.toISOString(),
    ...credentialColumns(login.credential),
  }
  await insertWhileRight(parts, login, row)
  if (!pushes.sendCode(row, holder.organization_id)) {
    await destroy(parts, login, row.id)
    throw new JmapError('rateLimit', { description: 'Codes wait for their receivers; try later' })
  }
  return { id: row.id, expires: utcDate(expiry), ...(object.types === undefined && { types }) }
}

/** A long request must not leave a subscription behind when its credential ends meanwhile. */
const insertWhileRight = (
  { core }: JmapParts,
  { caller, credential, holder }: Login,
  row: Parameters<typeof insertSubscription>[1],
) =>
  core.db.transaction().execute(async (tx) => {
    await lockCredential(tx, holder.id, credential)
    const on = { service: 'jmap' as const, ip: caller.ip, db: tx }
    if (!(await core.access.mailLogins.isStillRight(holder.id, credential, on))) {
      throw new JmapError('forbidden', { description: 'The login has ended' })
    }
    await insertSubscription(tx, row)
  })

async function update({ core }: JmapParts, login: Login, id: string, patch: Patch) {
  const row = (await ownSubscriptions(core.db, login)).find((one) => one.id === id)
  if (!row) throw new JmapError('notFound')
  const { verificationCode, types, expires, ...unknown } = patch
  const names = Object.keys(unknown)
  if (names.length > 0) throw invalidProperties(names)
  const isRight = isShort(verificationCode) && sameSecret(verificationCode, row.verification_code)
  if (verificationCode !== undefined && !isRight) throw invalidProperties(['verificationCode'])
  if (types !== undefined && !areTypes(types)) throw invalidProperties(['types'])
  const expiry = expires === undefined ? undefined : expiryOf(expires, core.now())
  await core.db
    .updateTable('jmap_push_subscriptions')
    .set({
      is_verified: row.is_verified || isRight,
      ...(types !== undefined && { types }),
      ...(expiry && { expires_at: expiry.toISOString() }),
    })
    .where('id', '=', id)
    .execute()
  return expiry ? { expires: utcDate(expiry) } : null
}

async function destroy({ core }: JmapParts, login: Login, id: string): Promise<void> {
  const row = (await ownSubscriptions(core.db, login)).find((one) => one.id === id)
  if (!row) throw new JmapError('notFound')
  await core.db.deleteFrom('jmap_push_subscriptions').where('id', '=', id).execute()
}

export const pushMethods: Record<string, PlainMethod> = {
  'PushSubscription/get': get,
  'PushSubscription/set': set,
}
