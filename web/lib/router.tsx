import { type ComponentType, createContext } from 'preact'
import { useContext, useEffect, useState } from 'preact/hooks'

// The address is the state: what a screen shows can be reloaded, sent to a colleague and gone back to.
const listeners = new Set<() => void>()
const notify = () => {
  for (const listener of listeners) listener()
}
const current = () => location.pathname + location.search

export function go(to: string, { replace = false }: { replace?: boolean } = {}): void {
  history[replace ? 'replaceState' : 'pushState'](null, '', to)
  notify()
}

/** Follows plain links below `base` inside the page; the browser follows all others. */
export function followLinks(base: string): void {
  addEventListener('popstate', notify)
  document.addEventListener('click', (event) => {
    const link = (event.target as Element).closest('a')
    if (!link || event.defaultPrevented || !isPlainClick(event)) return
    if (link.target || link.hasAttribute('download') || link.hash) return
    const isBelow = link.pathname === base || link.pathname.startsWith(`${base}/`)
    if (link.origin !== location.origin || !isBelow) return
    event.preventDefault()
    go(link.pathname + link.search)
    scrollTo(0, 0)
  })
}

const isPlainClick = (event: MouseEvent) =>
  event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey)

export function useAddress(): URL {
  const [address, setAddress] = useState(current)
  useEffect(() => {
    const listener = () => setAddress(current())
    listeners.add(listener)
    listener()
    return () => void listeners.delete(listener)
  }, [])
  return new URL(address, location.origin)
}

/**
 * Reads values from the query of the address, and a function that changes some of them. The address
 * before is kept for the back button where `replace` is false.
 */
export function useQueryState<Name extends string>(...names: Name[]) {
  const { pathname, searchParams } = useAddress()
  const values = Object.fromEntries(
    names.map((name) => [name, searchParams.get(name) ?? '']),
  ) as Record<Name, string>
  const change = (changes: Partial<Record<Name, string>>, replace = true) => {
    const next = new URLSearchParams(location.search)
    for (const [name, value] of Object.entries<string | undefined>(changes)) {
      if (value) next.set(name, value)
      else next.delete(name)
    }
    go(pathname + (next.size > 0 ? `?${next}` : ''), { replace })
  }
  return [values, change] as const
}

/** One line of the route table of a surface. */
export interface Screen {
  /** `/app/domains/:domain_id`; the parameter is read with `useParams`. */
  path: string
  title: string
  page: ComponentType
  /** The group of the navigation; a screen without one is reached from another screen. */
  nav?: string
  /** The path data of an icon of ui/icons.ts. */
  icon?: string
  /** The screen exists only where the server lists this capability. */
  capability?: string
  /** The screen exists only for callers with this level, e.g. `admin`. */
  level?: string
}

const Params = createContext<Record<string, string>>({})
export const useParams = () => useContext(Params)

/** Shows the screen whose path matches the address. */
export function Screens({
  screens,
  otherwise: Otherwise,
}: {
  screens: readonly Screen[]
  otherwise: ComponentType
}) {
  const { pathname } = useAddress()
  const found = match(screens, pathname)
  if (!found) return <Otherwise />
  return (
    <Params.Provider value={found.params}>
      <found.screen.page key={pathname} />
    </Params.Provider>
  )
}

export function match(screens: readonly Screen[], pathname: string) {
  const path = pathname.length > 1 ? pathname.replace(/\/$/, '') : pathname
  for (const screen of screens) {
    const found = new RegExp(`^${screen.path.replace(/:(\w+)/g, '(?<$1>[^/]+)')}$`).exec(path)
    if (found) return { screen, params: decoded(found.groups ?? {}) }
  }
  return undefined
}

const decoded = (params: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(params).map(([name, value]) => {
      try {
        return [name, decodeURIComponent(value)]
      } catch {
        return [name, value]
      }
    }),
  )
