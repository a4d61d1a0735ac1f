import { render } from 'preact'
import { showUncaught } from '../lib/attempt.ts'
import { brandOfHost } from '../lib/brand.ts'
import { tenantMay } from '../lib/may.ts'
import { useQuery } from '../lib/query.ts'
import { followLinks } from '../lib/router.tsx'
import { Starting } from '../ui/session.tsx'
import { Surface } from '../ui/surface.tsx'
import { api } from './api.ts'
import { groups, screens } from './routes.tsx'
import { search } from './search.ts'

function App() {
  const me = useQuery('me', () => api.get('/auth/me'))
  const { data: brand } = useQuery('brand', () => brandOfHost(api))
  if (!me.data || !brand) return <Starting kind="dashboard" error={me.error} again={me.again} />
  const { user, organization, capabilities } = me.data
  return (
    <Surface
      kind="dashboard"
      api={api}
      base="/app"
      brand={brand}
      screens={screens}
      groups={groups}
      account={{ name: organization?.name ?? '', email: user?.email ?? '' }}
      permissions={{
        level: (level) => tenantMay(user?.role ?? '', level),
        capability: (name) => capabilities.capabilities.includes(name),
      }}
      search={search}
    />
  )
}

followLinks('/app')
showUncaught()
render(<App />, document.getElementById('app') as HTMLElement)
