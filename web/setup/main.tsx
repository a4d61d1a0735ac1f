import { render } from 'preact'
import { useQuery } from '../lib/query.ts'
import { followLinks } from '../lib/router.tsx'
import { Failed } from '../ui/failed.tsx'
import { Toasts } from '../ui/toast.tsx'
import { tenant } from './clients.ts'
import { FirstRun } from './first-run.tsx'

function App() {
  const { data, error, again } = useQuery('state', () => tenant.get('/bootstrap/'))
  return (
    <>
      {data ? (
        <FirstRun state={data} />
      ) : (
        <main class="starting" aria-busy={!error}>
          <Failed error={error} again={again} />
        </main>
      )}
      <Toasts />
    </>
  )
}

followLinks('/setup')
render(<App />, document.getElementById('app') as HTMLElement)
