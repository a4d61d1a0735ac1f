import type { TObject, TProperties } from 'typebox'

/** A kind of event: its dotted name, who produces it, and the shape of its data. */
export interface EventType<Data extends TObject = TObject> {
  /** `email.imap.*` stands for every name that begins like that. */
  name: string
  source: string
  summary: string
  data: Data
}

/** An event that no part of this code emits; other services may, through the channel. */
export interface PlannedEvent extends EventType {
  /** Nobody is expected to emit it: the name is taken, and that is all. */
  reserved: boolean
}

const defined = new Map<string, EventType>()
const planned = new Map<string, PlannedEvent>()

/** Declares an event once, next to the feature that emits it. */
export function defineEvent<Properties extends TProperties>(
  name: string,
  declaration: { source: string; summary: string; data: TObject<Properties> },
): EventType<TObject<Properties>> {
  if (defined.has(name)) throw new Error(`event ${name} is defined twice`)
  const type = { name, ...declaration }
  defined.set(name, type as unknown as EventType)
  return type
}

/** Declares an event that has no feature yet; the feature that defines it takes its place. */
export function planEvent(event: PlannedEvent): void {
  if (planned.has(event.name)) throw new Error(`event ${event.name} is planned twice`)
  planned.set(event.name, event)
}

export interface CataloguedEvent extends EventType {
  producer: 'this' | 'none' | 'reserved'
}

const byName = (one: EventType, other: EventType) => one.name.localeCompare(other.name)

/** Every event there is or may be, whoever emits it. */
export const eventCatalogue = (): CataloguedEvent[] =>
  [
    ...Array.from(defined.values(), (type) => ({ ...type, producer: 'this' as const })),
    ...[...planned.values()]
      .filter(({ name }) => !defined.has(name))
      .map(({ reserved, ...type }) => ({
        ...type,
        producer: reserved ? ('reserved' as const) : ('none' as const),
      })),
  ].sort(byName)

/** Planned events that a feature defines by now: src/events/planned no longer needs them. */
export const overtaken = (): string[] => [...planned.keys()].filter((name) => defined.has(name))

/** The declaration that a name falls under: its own, or that of its family. */
export const findEvent = (name: string): EventType | undefined =>
  name.endsWith('.*')
    ? undefined
    : (defined.get(name) ??
      planned.get(name) ??
      defined.get(name.replace(/^(\w+\.\w+)\.[a-z0-9_-]+$/, '$1.*')))
