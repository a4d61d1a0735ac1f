import { childOf, type Element } from '../../../lib/xml.ts'
import { defaultCalendar } from '../scheduling/owners.repository.ts'
import { type Owner, usage } from '../store/collections.repository.ts'
import { type OpenCollection, openHome } from '../store/open-collection.ts'
import { DAV } from '../xml/names.ts'
import { Refusal, sendMultistatus } from './answers.ts'
import { type Context, collectionAt, type DavCore, type Handler } from './context.ts'
import type { Place } from './places.ts'
import { DEFAULT_CALENDAR, QUOTA_PROPERTIES, type Resource, STATE_PROPERTY } from './properties.ts'
import { responseOf, type Wanted, wantedIn, wants, wantsData } from './responses.ts'

export const propfind: Handler = async (context) => {
  const { request, reply, root } = context
  const depth = request.headers.depth ?? 'infinity'
  if (depth !== '0' && depth !== '1') throw new Refusal(403, '<D:propfind-finite-depth/>')
  checkForm(root)
  return sendMultistatus(reply, await responses(context, wantedIn(root), depth === '1'))
}

/** RFC 4918 section 14.20: a request asks for all properties, for their names, or for some. */
function checkForm(root: Element | undefined): void {
  if (!root) return
  const asked = ['allprop', 'propname', 'prop'].filter((name) => childOf(root, DAV, name))
  if (asked.length !== 1) throw new Refusal(400)
}

/** Reads what the first response needs, so that a missing resource is a plain 404. */
export async function responses(
  context: Context,
  wanted: Wanted,
  withMembers: boolean,
): Promise<AsyncGenerator<string>> {
  const { core, me, place } = context
  switch (place.type) {
    case 'collection':
      return ofCollection(context, await collectionAt(context, place), wanted, withMembers)
    case 'object':
      return ofObject(context, await collectionAt(context, place), place, wanted)
    case 'home':
      return ofHome(core, { place, me }, wanted, withMembers)
    case 'principals':
      return ofPrincipals({ place, me }, wanted, withMembers)
    case 'inbox':
      return responseOf(await describedInbox(core, { place, me }, wanted), wanted)
    default:
      return responseOf({ place, me }, wanted)
  }
}

async function* ofPrincipals(resource: Resource, wanted: Wanted, withMembers: boolean) {
  yield* responseOf(resource, wanted)
  if (!withMembers) return
  yield* responseOf({ ...resource, place: { type: 'principal', account: resource.me.id } }, wanted)
}

async function* ofHome(core: DavCore, resource: Resource, wanted: Wanted, withMembers: boolean) {
  const { place, me } = resource
  const quota = wants(wanted, ...QUOTA_PROPERTIES) && (await quotaOf(core, { account_id: me.id }))
  yield* responseOf({ ...resource, ...(quota && { quota }) }, wanted)
  if (!withMembers || place.type !== 'home') return
  for (const collection of await openHome(core.db, me, place.kind)) {
    const { kind, account } = place
    const at: Place = { type: 'collection', kind, account, uri: collection.uri }
    yield* responseOf(await described(core, { place: at, me, collection }, wanted), wanted)
  }
}

/** Adds what costs a query of its own, when it is asked for. */
export async function described(
  core: DavCore,
  resource: Resource,
  wanted: Wanted,
): Promise<Resource> {
  const { collection } = resource
  if (!collection) return resource
  const isAll = 'all' in wanted
  const needsState = isAll || wants(wanted, STATE_PROPERTY)
  const owner = wants(wanted, ...QUOTA_PROPERTIES) && collection.stored?.owner
  return {
    ...resource,
    ...(needsState && { state: await collection.state() }),
    ...(owner && { quota: await quotaOf(core, owner) }),
  }
}

async function describedInbox({ db }: DavCore, resource: Resource, wanted: Wanted) {
  if (!wants(wanted, DEFAULT_CALENDAR)) return resource
  const found = await defaultCalendar(db, { account_id: resource.me.id }, 'VEVENT')
  return { ...resource, defaultCalendar: found?.uri }
}

async function quotaOf({ config, db }: DavCore, owner: Owner) {
  const { bytes } = await usage(db, owner)
  const limit = config.CALDAV_QUOTA_MB * 1024 * 1024
  return { used: bytes, available: Math.max(0, limit - bytes) }
}

async function* ofCollection(
  { core, me, place }: Context,
  collection: OpenCollection,
  wanted: Wanted,
  withMembers: boolean,
): AsyncGenerator<string> {
  yield* responseOf(await described(core, { place, me, collection }, wanted), wanted)
  if (!withMembers || place.type !== 'collection') return
  for await (const rows of collection.list(wantsData(wanted))) {
    for (const object of rows) {
      const at: Place = { ...place, type: 'object', name: object.uri }
      yield* responseOf({ place: at, me, collection, object }, wanted)
    }
  }
}

async function ofObject(
  { me }: Context,
  collection: OpenCollection,
  place: Extract<Place, { type: 'object' }>,
  wanted: Wanted,
): Promise<AsyncGenerator<string>> {
  for await (const [object] of collection.named([place.name], wantsData(wanted))) {
    if (object) return responseOf({ place, me, collection, object }, wanted)
  }
  throw new Refusal(404)
}
