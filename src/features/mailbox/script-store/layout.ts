import type { Session } from '../../../mail/managesieve/session.ts'
import { COMPONENTS, filterOf, MAIN, mainScript } from '../../../sieve/main-script.ts'
import { isForeign } from '../../../sieve/marker.ts'

/** Stores one component, then makes sure that all of them run. */
export async function saveComponent(session: Session, name: string, script: string): Promise<void> {
  await session.put(name, script)
  await runAll(session)
}

export interface Layout {
  names: ReadonlySet<string>
  /** The script that the mail server runs; undefined when there is none. */
  active: string | undefined
  /** The script of the tenant that the main script includes. */
  filter: string | undefined
}

/** Reads the current scripts. A filter that was deleted is treated as missing. */
export async function readLayout(session: Session): Promise<Layout> {
  const scripts = await session.list()
  const names = new Set(scripts.map(({ name }) => name))
  const filter = filterOf(names.has(MAIN) ? ((await session.get(MAIN)) ?? '') : '')
  return {
    names,
    active: scripts.find(({ active }) => active)?.name,
    filter: filter !== undefined && names.has(filter) ? filter : undefined,
  }
}

/**
 * Activates the main script, with another filter of the tenant if one is given. Every component is stored
 * first, also one that was never set: Pigeonhole 0.5.19 crashes at times at delivery when several
 * optional includes are missing.
 */
export async function runAll(session: Session, filter?: string): Promise<void> {
  const before = await readLayout(session)
  for (const [name, off] of COMPONENTS) {
    if (!before.names.has(name)) await session.put(name, off)
  }
  await session.put(MAIN, mainScript(filter ?? before.filter))
  await session.activate(MAIN)
}

interface Component<Settings> {
  name: string
  none: Settings
  read(script: string): Settings
}

/** Settings as saved; empty and not managed when another program wrote the script. */
export async function readComponent<Settings>(
  session: Session,
  { name, none, read }: Component<Settings>,
  marker = name,
): Promise<{ settings: Settings; managed: boolean }> {
  const script = await session.get(name)
  if (script === undefined) return { settings: none, managed: true }
  return isForeign(script, marker)
    ? { settings: none, managed: false }
    : { settings: read(script), managed: true }
}
