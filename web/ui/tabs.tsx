import { useAddress } from '../lib/router.tsx'

/** Links between the screens of one area. */
export function Tabs({
  label,
  tabs,
}: {
  label: string
  tabs: readonly (readonly [to: string, title: string])[]
}) {
  const { pathname } = useAddress()
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(([to, title]) => (
        <a key={to} href={to} aria-current={pathname === to ? 'page' : undefined}>
          {title}
        </a>
      ))}
    </nav>
  )
}
