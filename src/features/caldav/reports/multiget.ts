import { breather } from '../../../lib/breather.ts'
import { childrenOf, type Element, textOf } from '../../../lib/xml.ts'
import { missing, Refusal, sendMultistatus } from '../protocol/answers.ts'
import { type Context, collectionAt, type Handler } from '../protocol/context.ts'
import { type Place, placeOf } from '../protocol/places.ts'
import { responseOf, wantedIn, wantsData } from '../protocol/responses.ts'
import type { OpenCollection } from '../store/open-collection.ts'
import { CALDAV, DAV } from '../xml/names.ts'
import { asAsked } from './data-as-asked.ts'
import { unsupported } from './unsupported.ts'
import { zoneOfReport } from './zone-of-report.ts'

/** calendar-multiget and addressbook-multiget: the objects that the request names. */
export const multiget: Handler = async (context) => {
  const { place, reply, root } = context
  if (!root) throw new Refusal(400)
  const kind = root.namespace === CALDAV ? 'calendar' : 'addressbook'
  if ((place.type !== 'collection' && place.type !== 'object') || place.kind !== kind) {
    throw unsupported()
  }
  const collection = await collectionAt(context, place)
  const zone = await zoneOfReport(context, collection)
  return sendMultistatus(reply, responses(context, collection, root, place, zone))
}

async function* responses(
  context: Context,
  collection: OpenCollection,
  root: Element,
  place: Extract<Place, { type: 'collection' | 'object' }>,
  zone: string | undefined,
): AsyncGenerator<string> {
  const { me } = context
  const wanted = wantedIn(root)
  const breathe = breather()
  const paths = new Map<string, string>()
  for (const path of childrenOf(root, DAV, 'href').map((one) => textOf(one).trim())) {
    const name = nameIn(path, place)
    if (name === undefined) yield missing(path)
    else paths.set(name, path)
    await breathe()
  }
  for await (const rows of collection.named([...paths.keys()], wantsData(wanted))) {
    for (const object of await asAsked(context, wanted, rows, zone)) {
      paths.delete(object.uri)
      const at: Place = { ...place, type: 'object', name: object.uri }
      yield* responseOf({ place: at, me, collection, object }, wanted)
    }
  }
  for (const path of paths.values()) yield missing(path)
}

/** The name of an object of this collection; undefined for every other path. */
function nameIn(
  href: string,
  { kind, account, uri }: { kind: string; account: string; uri: string },
): string | undefined {
  let path = href
  if (/^https?:/i.test(href)) {
    if (!URL.canParse(href)) return undefined
    path = new URL(href).pathname
  }
  const found = placeOf(path)
  const isHere =
    found?.type === 'object' &&
    found.kind === kind &&
    found.account === account &&
    found.uri === uri
  return isHere ? found.name : undefined
}
