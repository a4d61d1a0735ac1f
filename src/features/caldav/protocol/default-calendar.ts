import { childOf, childrenOf, type Element, elementsOf, textOf } from '../../../lib/xml.ts'
import * as collections from '../store/collections.repository.ts'
import { CALDAV, DAV, splitKey } from '../xml/names.ts'
import type { Context } from './context.ts'
import { type Place, placeOf } from './places.ts'
import { DEFAULT_CALENDAR } from './properties.ts'

/**
 * Sets or removes the calendar for new invitations (RFC 6638 section 9.2). Returns false when the new
 * one is no calendar of the mailbox that takes events.
 */
export async function chooseCalendar(context: Context, root: Element): Promise<boolean> {
  const { core, me, request } = context
  const property = lastOf(root)
  const owner = { account_id: me.id }
  const choose = (id: string | undefined) =>
    core.change(request.caller, (tx) => collections.choose(tx, owner, id, core.now()))
  if (!property) {
    await choose(undefined)
    return true
  }
  const chosen = await ownCalendar(context, textOf(childOf(property, DAV, 'href')).trim())
  return chosen?.components.includes('VEVENT') ? choose(chosen.id) : false
}

/** The value that the request ends with; undefined when it removes the property. */
function lastOf(root: Element): Element | undefined {
  const { name } = splitKey(DEFAULT_CALENDAR)
  const actions = elementsOf(root).filter((action) =>
    childrenOf(action, DAV, 'prop').some((prop) => childOf(prop, CALDAV, name)),
  )
  const last = actions.at(-1)
  return last?.name === 'set' ? childOf(childOf(last, DAV, 'prop'), CALDAV, name) : undefined
}

/** The calendar that a URL names, if it is an own one. */
async function ownCalendar(context: Context, url: string) {
  const { me, request } = context
  const base = `http://${request.headers.host}`
  const place = URL.canParse(url, base) ? placeOf(new URL(url, base).pathname) : undefined
  const isCalendar = (one: Place | undefined): one is Extract<Place, { type: 'collection' }> =>
    one?.type === 'collection' && one.kind === 'calendar' && one.account === me.id
  if (!isCalendar(place)) return undefined
  return collections.find(context.core.db, { account_id: me.id }, 'calendar', place.uri)
}
