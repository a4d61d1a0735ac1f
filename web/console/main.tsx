import { render } from 'preact'
import { showUncaught } from '../lib/attempt.ts'
import { operatorMay } from '../lib/may.ts'
import { useQuery } from '../lib/query.ts'
import { followLinks } from '../lib/router.tsx'
import { Starting } from '../ui/session.tsx'
import { Surface } from '../ui/surface.tsx'
import { api } from './api.ts'
import { groups, screens } from './routes.tsx'
import { search } from './search.ts'
import { t } from './words.ts'

function App() {
  const me = useQuery('me', () => api.get('/platform/auth/me'))
  const manifest = useQuery('capabilities', () => api.get('/capabilities/'))
  if (!me.data || !manifest.data) {
    return <Starting kind="operator" error={me.error ?? manifest.error} again={me.again} />
  }
  const { email, role } = me.data
  const { capabilities } = manifest.data
  return (
    <Surface
      kind="operator"
      api={api}
      base="/console"
      brand={{ name: t.brand }}
      screens={screens}
      groups={groups}
      account={{ name: email, email, detail: role }}
      permissions={{
        level: (level) => operatorMay(role, level),
        capability: (name) => capabilities.includes(name),
      }}
      search={search}
    />
  )
}

followLinks('/console')
showUncaught()
render(<App />, document.getElementById('app') as HTMLElement)
