import { render } from 'preact'
import { brandOfHost } from '../lib/brand.ts'
import { Toasts } from '../ui/toast.tsx'
import { clients } from './clients.ts'
import { SignInPage } from './sign-in.tsx'

// Both are known before the first paint, so that the page does not change under the reader.
const [brand, state] = await Promise.all([
  brandOfHost(clients.dashboard),
  clients.dashboard.get('/bootstrap/').catch(() => undefined),
])

if (state?.organization === 'open') location.replace('/setup')
else {
  render(
    <>
      <SignInPage brand={brand} needsOperator={state?.operator === 'open'} />
      <Toasts />
    </>,
    document.getElementById('app') as HTMLElement,
  )
}
