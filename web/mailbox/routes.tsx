import type { Screen } from '../lib/router.tsx'
import * as icons from '../ui/icons.ts'
import { AppPasswords } from './app-passwords/app-passwords.tsx'
import { t as appPasswords } from './app-passwords/words.ts'
import { BlockedSenders } from './blocked-senders/blocked-senders.tsx'
import { t as blocked } from './blocked-senders/words.ts'
import { Encryption } from './encryption/encryption.tsx'
import { t as encryption } from './encryption/words.ts'
import { Forwarding } from './forwarding/forwarding.tsx'
import { t as forwarding } from './forwarding/words.ts'
import { Grants } from './grants/grants.tsx'
import { t as grants } from './grants/words.ts'
import { Home } from './home/home.tsx'
import { t as home } from './home/words.ts'
import { Compose } from './mail/compose.tsx'
import { Mail } from './mail/mail.tsx'
import { Thread } from './mail/thread.tsx'
import { t as mail } from './mail/words.ts'
import { ForcedPassword, Password } from './password/password.tsx'
import { t as password } from './password/words.ts'
import { Rules } from './rules/rules.tsx'
import { t as rules } from './rules/words.ts'
import { SignIns } from './sign-ins/sign-ins.tsx'
import { t as signIns } from './sign-ins/words.ts'
import { TwoFactor } from './two-factor/two-factor.tsx'
import { t as twoFactor } from './two-factor/words.ts'
import { Vacation } from './vacation/vacation.tsx'
import { t as vacation } from './vacation/words.ts'
import { t } from './words.ts'

export const groups = [
  { name: 'home' },
  { name: 'mail', title: t.groups.mail },
  { name: 'security', title: t.groups.security },
]

/** One line for each screen, in the order of the navigation. See docs/web.md. */
export const screens: readonly Screen[] = [
  { path: '/mailbox', title: home.title, page: Home, nav: 'home', icon: icons.home },
  {
    path: '/mailbox/mail',
    title: mail.title,
    page: Mail,
    nav: 'home',
    icon: icons.inbox,
    capability: 'mail',
  },
  {
    path: '/mailbox/mail/:account_id/:thread_id',
    title: mail.title,
    page: Thread,
    capability: 'mail',
  },
  {
    path: '/mailbox/compose',
    title: mail.compose,
    page: Compose,
    nav: 'home',
    icon: icons.pen,
    capability: 'mail',
  },
  {
    path: '/mailbox/vacation',
    title: vacation.title,
    page: Vacation,
    nav: 'mail',
    icon: icons.plane,
    capability: 'vacation',
  },
  {
    path: '/mailbox/rules',
    title: rules.title,
    page: Rules,
    nav: 'mail',
    icon: icons.filter,
    capability: 'rules',
  },
  {
    path: '/mailbox/forwarding',
    title: forwarding.title,
    page: Forwarding,
    nav: 'mail',
    icon: icons.forward,
    capability: 'forwarding',
  },
  {
    path: '/mailbox/blocked-senders',
    title: blocked.title,
    page: BlockedSenders,
    nav: 'mail',
    icon: icons.ban,
    // Blocked senders are filters too, and have no capability of their own.
    capability: 'rules',
  },
  {
    path: '/mailbox/password',
    title: password.title,
    page: Password,
    nav: 'security',
    icon: icons.lock,
    capability: 'settings',
  },
  {
    path: '/mailbox/two-factor',
    title: twoFactor.title,
    page: TwoFactor,
    nav: 'security',
    icon: icons.shield,
    capability: 'two_factor',
  },
  {
    path: '/mailbox/app-passwords',
    title: appPasswords.title,
    page: AppPasswords,
    nav: 'security',
    icon: icons.key,
    capability: 'app_passwords',
  },
  {
    path: '/mailbox/encryption',
    title: encryption.title,
    page: Encryption,
    nav: 'security',
    icon: icons.file,
    capability: 'encryption',
  },
  {
    path: '/mailbox/grants',
    title: grants.title,
    page: Grants,
    nav: 'security',
    icon: icons.bolt,
    capability: 'grants',
  },
  {
    path: '/mailbox/sign-ins',
    title: signIns.title,
    page: SignIns,
    nav: 'security',
    icon: icons.clock,
  },
]

/** Every URL shows the same form until a password that an administrator set is changed. */
export const forcedScreens: readonly Screen[] = screens.map(({ path }) => ({
  path,
  title: password.forced,
  page: ForcedPassword,
}))
