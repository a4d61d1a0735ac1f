import { useEffect, useState } from 'preact/hooks'
import { type ApiError, type Client, isSessionEnd } from '../api/client.ts'
import { type Kind, onSessionEnd, signInUrl } from '../lib/sessions.ts'
import { Dialog } from './dialog.tsx'
import { Failed } from './failed.tsx'
import { SignIn } from './sign-in.tsx'
import { t } from './words.ts'

/** A sign-in dialog over the page when the session has ended, so that nothing typed is lost. */
export function SessionEnd({ kind, api, email }: { kind: Kind; api: Client; email: string }) {
  const [open, setOpen] = useState(false)
  useEffect(() => onSessionEnd(() => setOpen(true)), [])
  return (
    <Dialog title={t.signIn} open={open} onClose={() => setOpen(false)} locked>
      <p class="prose">{t.sessionEnded}</p>
      <SignIn
        kind={kind}
        api={api}
        email={email}
        onStep={(step) => (step === 'done' ? setOpen(false) : location.assign(signInUrl(kind)))}
      />
    </Dialog>
  )
}

/** Until it is known who is signed in. Without a session the sign-in page follows. */
export function Starting({
  kind,
  error,
  again,
}: {
  kind: Kind
  error: ApiError | undefined
  again(): void
}) {
  const isSignedOut = error !== undefined && isSessionEnd(error)
  useEffect(() => {
    if (isSignedOut) location.replace(signInUrl(kind))
  }, [isSignedOut])
  return (
    <main class="starting" aria-busy={!error}>
      {!isSignedOut && <Failed error={error} again={again} />}
    </main>
  )
}

/** Ends the session on the server, then shows the sign-in page. */
export async function leave(kind: Kind, api: Client): Promise<void> {
  const path = {
    dashboard: '/auth/logout',
    operator: '/platform/auth/logout',
    mailbox: '/mailbox-auth/logout',
  } as const
  await api.post(path[kind]).catch(() => {})
  location.assign(`/?as=${kind}`)
}
