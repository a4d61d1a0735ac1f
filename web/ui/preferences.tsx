import { useState } from 'preact/hooks'
import {
  chooseLanguage,
  LANGUAGES,
  type Language,
  language,
  remember,
  remembered,
} from '../lib/language.ts'
import { MenuChoice, MenuGroup } from './menu.tsx'
import { t } from './words.ts'

const THEMES = ['light', 'dark', 'system'] as const

/** Menu items for appearance, time zone and language. The server reads the cookies on the next page. */
export function Preferences() {
  const [theme, setTheme] = useState(document.documentElement.dataset.theme ?? 'system')
  const chooseTheme = (chosen: (typeof THEMES)[number]) => {
    remember('theme', chosen)
    setTheme(chosen)
    if (chosen === 'system') delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = chosen
  }
  const chooseZone = (zone: 'own' | 'utc') => {
    remember('zone', zone)
    location.reload()
  }
  const isUtc = remembered('zone') === 'utc'
  return (
    <>
      <MenuGroup title={t.theme}>
        {THEMES.map((one) => (
          <MenuChoice key={one} chosen={theme === one} onClick={() => chooseTheme(one)}>
            {{ light: t.light, dark: t.dark, system: t.asSystem }[one]}
          </MenuChoice>
        ))}
      </MenuGroup>
      <MenuGroup title={t.times}>
        <MenuChoice chosen={!isUtc} onClick={() => chooseZone('own')}>
          {t.ownTime}
        </MenuChoice>
        <MenuChoice chosen={isUtc} onClick={() => chooseZone('utc')}>
          {t.utc}
        </MenuChoice>
      </MenuGroup>
      <MenuGroup title={t.language}>
        {Object.entries(LANGUAGES).map(([code, name]) => (
          <MenuChoice
            key={code}
            chosen={code === language}
            onClick={() => chooseLanguage(code as Language)}
          >
            <span lang={code}>{name}</span>
          </MenuChoice>
        ))}
      </MenuGroup>
    </>
  )
}
