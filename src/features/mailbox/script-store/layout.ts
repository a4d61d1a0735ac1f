import type { Session } from '../../../mail/managesieve/session.ts'
import {
  type Additions,
  additionsOf,
  COMPONENTS,
  MAIN,
  mainScript,
  TENANT_VACATION,
} from '../../../sieve/main-script.ts'
import { isForeign } from '../../../sieve/marker.ts'

/** Stores one component, then makes sure that all of them run. */
export async function saveComponent(
  session: Session,
  name: string,
  script: string,
  changed: Partial<Additions> = {},
): Promise<Layout> {
  await session.put(name, script)
  return runAll(session, changed)
}

export interface Layout {
  names: ReadonlySet<string>
  /** The script that the mail server runs; undefined when there is none. */
  active: string | undefined
  additions: Additions
}

/** What there is. Additions that somebody has deleted are none. */
export async function readLayout(session: Session): Promise<Layout> {
  const scripts = await session.list()
  const names = new Set(scripts.map(({ name }) => name))
  const { filter, vacation } = additionsOf(names.has(MAIN) ? ((await session.get(MAIN)) ?? '') : '')
  return {
    names,
    active: scripts.find(({ active }) => active)?.name,
    additions: {
      filter: filter !== undefined && names.has(filter) ? filter : undefined,
      vacation: vacation && names.has(TENANT_VACATION),
    },
  }
}

/**
 * Makes the main script the active one, and returns what there was before. Every component is
 * stored first, also one that was never set: Pigeonhole 0.5.19 crashes now and then at delivery
 * when several optional includes are missing.
 */
export async function runAll(session: Session, changed: Partial<Additions> = {}): Promise<Layout> {
  const before = await readLayout(session)
  for (const [name, off] of COMPONENTS) {
    if (!before.names.has(name)) await session.put(name, off)
  }
  await session.put(MAIN, mainScript({ ...before.additions, ...changed }))
  await session.activate(MAIN)
  return before
}

interface Component<Settings> {
  name: string
  none: Settings
  read(script: string): Settings
}

/** Settings as they were saved; none, and not managed, when somebody else wrote the script. */
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
