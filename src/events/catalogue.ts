import type { TObject, TProperties } from 'typebox'

/** A type of event: its dotted name, its producer, and the schema of its data. */
export interface EventType<Data extends TObject = TObject> {
  /** `email.imap.*` means every name with this prefix. */
  name: string
  source: string
  summary: string
  data: Data
  /** Mailplane stores it only when another service reports it. */
  reported?: boolean
}

/** An event that Mailplane does not emit; other services may, through the channel. */
interface PlannedEvent extends EventType {
  /** The name is reserved, and nothing is expected to emit it. */
  reserved: boolean
}

const defined = new Map<string, EventType>()
const planned = new Map<string, PlannedEvent>()

/** Declares an event once, next to the feature that emits it. */
export function defineEvent<Properties extends TProperties>(
  name: string,
  declaration: { source: string; summary: string; data: TObject<Properties>; reported?: true },
): EventType<TObject<Properties>> {
  if (defined.has(name)) throw new Error(`event ${name} is defined twice`)
  const type = { name, ...declaration }
  defined.set(name, type as unknown as EventType)
  return type
}

/** Declares an event that no feature defines yet; a later defineEvent replaces it. */
export function planEvent(event: PlannedEvent): void {
  if (planned.has(event.name)) throw new Error(`event ${event.name} is planned twice`)
  planned.set(event.name, event)
}

interface CataloguedEvent extends EventType {
  producer: 'this' | 'none' | 'reserved'
}

const byName = (one: EventType, other: EventType) => one.name.localeCompare(other.name)

/** All defined and planned events. */
export const eventCatalogue = (): CataloguedEvent[] =>
  [
    ...Array.from(defined.values(), (type) => ({
      ...type,
      producer: type.reported ? ('none' as const) : ('this' as const),
    })),
    ...[...planned.values()]
      .filter(({ name }) => !defined.has(name))
      .map(({ reserved, ...type }) => ({
        ...type,
        producer: reserved ? ('reserved' as const) : ('none' as const),
      })),
  ].sort(byName)

/** Planned events that a feature has defined since; they can go from src/events/planned. */
export const overtaken = (): string[] => [...planned.keys()].filter((name) => defined.has(name))

/** The declaration of a name, or of the family that it belongs to. */
export const findEvent = (name: string): EventType | undefined =>
  name.endsWith('.*')
    ? undefined
    : (defined.get(name) ??
      planned.get(name) ??
      defined.get(name.replace(/^(\w+\.\w+)\.[a-z0-9_-]+$/, '$1.*')))
