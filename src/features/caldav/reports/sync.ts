import { childOf, type Element, textOf } from '../../../lib/xml.ts'
import { missing, Refusal, sendMultistatus, truncated } from '../protocol/answers.ts'
import { type Context, collectionAt, type Handler } from '../protocol/context.ts'
import { type Place, pathOf } from '../protocol/places.ts'
import { SYNC_TOKEN_BASE, syncToken } from '../protocol/properties.ts'
import { responseOf, wantedIn, wantsData } from '../protocol/responses.ts'
import { changes } from '../store/objects.repository.ts'
import type { OpenCollection } from '../store/open-collection.ts'
import { DAV } from '../xml/names.ts'
import { escaped } from '../xml/write.ts'
import { unsupported } from './unsupported.ts'

type Stored = NonNullable<OpenCollection['stored']>

/** sync-collection (RFC 6578): what changed since the token of the client. */
export const syncCollection: Handler = async (context) => {
  const { place, request, reply, root } = context
  if (!root || place.type !== 'collection') throw unsupported()
  const { depth } = request.headers
  if (depth !== undefined && depth !== '0' && depth !== '1') throw new Refusal(400)
  const level = textOf(childOf(root, DAV, 'sync-level')).trim()
  if (!['', '1', 'infinite'].includes(level)) throw new Refusal(400)
  const collection = await collectionAt(context, place)
  if (!collection.stored) throw unsupported()
  const since = sinceOf(textOf(childOf(root, DAV, 'sync-token')).trim(), collection.stored)
  return sendMultistatus(
    reply,
    responses(context, { ...collection, stored: collection.stored }, root, since),
  )
}

/** A token of another collection, of the future, or older than the kept deletions is not valid. */
function sinceOf(token: string, { id, seq, forgotten_seq }: Stored): number {
  if (token === '') return 0
  const start = `${SYNC_TOKEN_BASE}${id}/`
  const number = token.startsWith(start) ? token.slice(start.length) : ''
  const since = /^\d{1,15}$/.test(number) ? Number(number) : Number.NaN
  if (!(since <= seq && since >= forgotten_seq && since > 0)) {
    throw new Refusal(403, '<D:valid-sync-token/>')
  }
  return since
}

async function* responses(
  { core, me, place }: Context,
  collection: OpenCollection & { stored: Stored },
  root: Element,
  since: number,
): AsyncGenerator<string> {
  if (place.type !== 'collection') return
  const wanted = wantedIn(root)
  const asked = Number(textOf(childOf(childOf(root, DAV, 'limit'), DAV, 'nresults')))
  const limit = Number.isInteger(asked) && asked > 0 ? asked : Number.MAX_SAFE_INTEGER
  const { id, seq } = collection.stored
  // The token was read before the rows: what changes meanwhile has a higher number and comes next time.
  const range = { since, upTo: seq, limit: limit + 1 }
  let count = 0
  let last = since
  for await (const rows of changes(core.db, id, range, wantsData(wanted))) {
    for (const object of rows) {
      if (++count > limit) {
        yield truncated(pathOf(place))
        yield tokenElement(id, last)
        return
      }
      last = object.seq
      const at: Place = { ...place, type: 'object', name: object.uri }
      if (object.gone) yield missing(pathOf(at))
      else yield* responseOf({ place: at, me, collection, object }, wanted)
    }
  }
  yield tokenElement(id, seq)
}

const tokenElement = (id: string, seq: number) =>
  `<D:sync-token>${escaped(syncToken(id, seq))}</D:sync-token>`
