import * as collections from '../store/collections.repository.ts'
import * as objects from '../store/objects.repository.ts'
import type { OpenCollection } from '../store/open-collection.ts'
import { Refusal } from './answers.ts'
import { type Context, collectionAt, type Handler, writable } from './context.ts'
import { type Place, placeOf } from './places.ts'
import { checkPreconditions } from './preconditions.ts'
import { factsOf, removeObject, store, tagsOf } from './write-object.ts'

type ObjectPlace = Extract<Place, { type: 'object' }>

/** COPY and MOVE of one object to a place in the same home. */
export const copyOrMove: Handler = async (context) => {
  const { core, me, place, request, reply } = context
  const target = destinationOf(context)
  if (place.type !== 'object' || target.type !== 'object' || target.kind !== place.kind) {
    throw new Refusal(403, undefined, { message: 'Only objects can be copied and moved' })
  }
  if (target.account !== me.id) throw new Refusal(403)
  const isMove = request.method === 'MOVE'
  const from = await collectionAt(context, place)
  const to = await collectionAt(context, target).catch((error) => {
    throw error instanceof Refusal && error.status === 404 ? new Refusal(409) : error
  })
  writable(to)
  if (isMove) writable(from)
  const source = await readSource(from, place)
  checkPreconditions(request.headers, source.etag)
  const facts = await factsOf(core, place.kind, source.data, me.organization_id)
  const result = await core.change(request.caller, async (tx) => {
    // In the order of their ids, so that two opposite moves do not wait for each other.
    const ids = [to, ...(isMove ? [from] : [])].map((one) => writable(one).id).toSorted()
    for (const id of new Set(ids)) await collections.lock(tx, id)
    if (request.headers.overwrite === 'F') await refusePresent(tx, to, target)
    const isOnto = place.uri === target.uri && place.name === target.name
    if (isOnto) throw new Refusal(403)
    if (isMove) {
      await removeObject(tx, writable(from).id, place.name, core.now(), ({ etag }) => {
        if (etag !== source.etag) throw new Refusal(412)
      })
    }
    const { data: text } = source
    return store(tx, core, { collection: to, place: target, text, facts, headers: {} })
  })
  return reply
    .code(result.isNew ? 201 : 204)
    .headers(tagsOf(result))
    .send()
}

/** The place that the header names; on another host there is none. */
function destinationOf({ request }: Context): Place {
  const { destination } = request.headers
  if (typeof destination !== 'string') {
    throw new Refusal(400, undefined, { message: 'Send a Destination header' })
  }
  let url: URL
  try {
    url = new URL(destination, `http://${request.headers.host}`)
  } catch {
    throw new Refusal(400)
  }
  if (/^[a-z]+:/i.test(destination) && url.host !== request.headers.host) throw new Refusal(502)
  const place = placeOf(url.pathname)
  if (!place) throw new Refusal(403)
  return place
}

async function readSource(collection: OpenCollection, place: ObjectPlace) {
  for await (const [object] of collection.named([place.name], true)) {
    if (object?.data !== undefined) return { ...object, data: object.data }
  }
  throw new Refusal(404)
}

async function refusePresent(
  tx: Parameters<typeof objects.findPlain>[0],
  { stored }: OpenCollection,
  { name }: ObjectPlace,
): Promise<void> {
  if (stored && (await objects.findPlain(tx, stored.id, name))) throw new Refusal(412)
}
