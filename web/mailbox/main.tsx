import { render } from 'preact'
import { showUncaught } from '../lib/attempt.ts'
import { brandOfHost } from '../lib/brand.ts'
import { useQuery } from '../lib/query.ts'
import { followLinks, type Screen } from '../lib/router.tsx'
import { Starting } from '../ui/session.tsx'
import { Surface } from '../ui/surface.tsx'
import { api } from './api.ts'
import { forcedScreens, groups, screens } from './routes.tsx'
import { t } from './words.ts'

function App() {
  const { data, error, again } = useQuery('profile', () => api.get('/mailbox/profile'))
  const brand = useQuery('brand', () => brandOfHost(api)).data
  if (!data || !brand) return <Starting kind="mailbox" error={error} again={again} />
  const { email_address, must_change_password } = data
  // Until the password is changed every other call is refused.
  if (must_change_password) return <Frame email={email_address} screens={forcedScreens} />
  return <Ready email={email_address} />
}

function Ready({ email }: { email: string }) {
  const { data, error, again } = useQuery('capabilities', () => api.get('/mailbox/capabilities'))
  if (!data) return <Starting kind="mailbox" error={error} again={again} />
  return <Frame email={email} screens={screens} capabilities={data.capabilities} />
}

function Frame({
  email,
  screens,
  capabilities = {},
}: {
  email: string
  screens: readonly Screen[]
  capabilities?: Record<string, boolean>
}) {
  const brand = useQuery('brand', () => brandOfHost(api))
  return (
    <Surface
      kind="mailbox"
      api={api}
      base="/mailbox"
      brand={{ name: t.brand, logo: brand.data?.logo }}
      screens={screens}
      groups={groups}
      account={{ name: email, email }}
      permissions={{ level: () => true, capability: (name) => capabilities[name] ?? false }}
      search={async () => []}
    />
  )
}

followLinks('/mailbox')
showUncaught()
document.documentElement.classList.add('roomy')
render(<App />, document.getElementById('app') as HTMLElement)
