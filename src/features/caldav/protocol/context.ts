import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Core } from '../../../core.ts'
import type { Element } from '../../../lib/xml.ts'
import type { Holder } from '../login/holder.ts'
import { type OpenCollection, openCollection } from '../store/open-collection.ts'
import { Refusal } from './answers.ts'
import type { Place } from './places.ts'

export type DavCore = Pick<Core, 'change' | 'config' | 'db' | 'now' | 'workers'>

/** One request of a mailbox to a place in its own home. */
export interface Context {
  core: DavCore
  me: Holder
  place: Place
  request: FastifyRequest
  reply: FastifyReply
  body: Buffer
  /** The XML of the body; undefined when the body is empty. */
  root: Element | undefined
}

export type Handler = (context: Context) => Promise<FastifyReply>

export type InCollection = Extract<Place, { type: 'collection' | 'object' }>

/** The collection of a place; 404 when the mailbox does not see one there. */
export async function collectionAt(
  { core, me }: Pick<Context, 'core' | 'me'>,
  place: InCollection,
): Promise<OpenCollection> {
  const collection = await openCollection(core.db, me, place.kind, place.uri)
  if (!collection) throw new Refusal(404)
  return collection
}

/** The collection with its rows; the address book of the domain has none and cannot be changed. */
export function writable(collection: OpenCollection): NonNullable<OpenCollection['stored']> {
  if (!collection.mayWrite || !collection.stored) {
    throw new Refusal(403, '<D:need-privileges/>', { message: 'This collection is read-only' })
  }
  return collection.stored
}

export const prefixOf = (kind: 'calendar' | 'addressbook') => (kind === 'calendar' ? 'C' : 'A')
