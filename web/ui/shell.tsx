import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { match, type Screen, Screens, useAddress } from '../lib/router.tsx'
import { Failures } from './failures.tsx'
import { Icon } from './icon.tsx'
import { down, mail, search as searchIcon } from './icons.ts'
import { Menu, MenuItem } from './menu.tsx'
import { Empty, Heading, Text } from './page.tsx'
import { type Command, openPalette, Palette } from './palette.tsx'
import { Preferences } from './preferences.tsx'
import { Toasts } from './toast.tsx'
import { t } from './words.ts'

interface Props {
  /** The path of the surface, e.g. `/app`. */
  base: string
  brand: string
  logo?: string | undefined
  /** Only the screens that this person may use. */
  screens: readonly Screen[]
  /** The groups of the navigation in order; a group without a title has none. */
  groups: readonly { name: string; title?: string }[]
  /** On the button of the account menu, and below it. */
  account: { name: string; detail: string }
  signOut(): void
  search(text: string): Promise<Command[]>
  children?: ComponentChildren
}

/** The frame of a surface: navigation, account menu, command palette and the current screen. */
export function Shell(props: Props) {
  const { base, brand, logo, screens, account } = props
  const { pathname } = useAddress()
  const main = useRef<HTMLElement>(null)
  const isFirst = useRef(true)
  useEffect(() => {
    if (!isFirst.current) main.current?.focus()
    isFirst.current = false
  }, [pathname])
  return (
    <div class="shell">
      <a class="skip" href="#main">
        {t.skip}
      </a>
      <header class="side">
        <a class="brand" href={base}>
          {logo ? <img src={logo} alt="" height={24} /> : <Icon path={mail} size={20} />}
          <Text>{brand}</Text>
        </a>
        <button type="button" class="find" onClick={openPalette}>
          <Icon path={searchIcon} size={16} />
          <span>{t.palette}</span>
          <span class="keys" aria-hidden="true">
            Ctrl K
          </span>
        </button>
        <Navigation {...props} current={match(screens, pathname)?.screen} />
        <Menu
          label={
            <>
              <span class="clip">
                <Text>{account.name}</Text>
              </span>
              <Icon path={down} size={14} />
            </>
          }
        >
          <p class="hint clip">
            <Text>{account.detail}</Text>
          </p>
          <Preferences />
          <MenuItem onClick={props.signOut}>{t.signOut}</MenuItem>
        </Menu>
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        <Screens screens={screens} otherwise={() => <NotHere base={base} />} />
      </main>
      <Palette commands={commandsOf(screens)} search={props.search} />
      {props.children}
      <Toasts />
      <Failures />
    </div>
  )
}

function Navigation({ base, screens, groups, current }: Props & { current: Screen | undefined }) {
  const isCurrent = ({ path }: Screen) =>
    current?.path === path || (path !== base && current?.path.startsWith(`${path}/`))
  return (
    <nav aria-label={t.navigation}>
      {groups.map(({ name, title }) => {
        const own = screens.filter(({ nav }) => nav === name)
        if (own.length === 0) return null
        return (
          <div key={name} class="group">
            {title && <p class="hint">{title}</p>}
            <ul>
              {own.map((screen) => (
                <li key={screen.path}>
                  <a href={screen.path} aria-current={isCurrent(screen) ? 'page' : undefined}>
                    {screen.icon && <Icon path={screen.icon} />}
                    {screen.title}
                  </a>
                </li>
              ))}
            </ul>
          </div>
        )
      })}
    </nav>
  )
}

const commandsOf = (screens: readonly Screen[]): Command[] =>
  screens.filter(({ path }) => !path.includes(':')).map(({ title, path }) => ({ title, to: path }))

const NotHere = ({ base }: { base: string }) => (
  <>
    <Heading title={t.notHere} />
    <Empty
      title={t.notHere}
      action={
        <a class="button" href={base}>
          {t.goHome}
        </a>
      }
    >
      {t.notHereHint}
    </Empty>
  </>
)
