import type { Client } from '../api/client.ts'
import { type Permissions, PermissionsContext } from '../lib/may.ts'
import type { Screen } from '../lib/router.tsx'
import type { Kind } from '../lib/sessions.ts'
import type { Command } from './palette.tsx'
import { leave, SessionEnd } from './session.tsx'
import { Shell } from './shell.tsx'

interface Props {
  kind: Kind
  api: Client
  base: string
  brand: { name: string; logo?: string | undefined }
  screens: readonly Screen[]
  groups: readonly { name: string; title?: string }[]
  account: { name: string; email: string; detail?: string }
  permissions: Permissions
  search(text: string): Promise<Command[]>
}

/** A signed-in surface. Screens that the person may not use do not exist in it. */
export function Surface({ kind, api, base, brand, account, permissions, ...props }: Props) {
  const screens = props.screens.filter(
    ({ capability, level }) =>
      (!capability || permissions.capability(capability)) && (!level || permissions.level(level)),
  )
  return (
    <PermissionsContext.Provider value={permissions}>
      <Shell
        base={base}
        brand={brand.name}
        logo={brand.logo}
        screens={screens}
        groups={props.groups}
        account={{ name: account.name, detail: account.detail ?? account.email }}
        signOut={() => void leave(kind, api)}
        search={props.search}
      >
        <SessionEnd kind={kind} api={api} email={account.email} />
      </Shell>
    </PermissionsContext.Provider>
  )
}
