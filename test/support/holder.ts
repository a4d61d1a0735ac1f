import { anonymous } from '../../src/access/caller.ts'
import { type App, clientOf } from './app.ts'

/** Somebody signed in to a mailbox, without the login that leads there. */
export async function holderOf(app: App, accountId: string) {
  const caller = {
    ...anonymous,
    ip: '127.0.0.1',
    userAgent: null,
    correlationId: '',
    atCommit: [],
  }
  const session = await app.core.db
    .transaction()
    .execute((tx) => app.core.access.sessions.open(tx, 'mailbox', accountId, caller))
  return { ...clientOf(app, { authorization: `Bearer ${session.token}` }), sessionId: session.id }
}

export const isSignedIn = async (holder: Awaited<ReturnType<typeof holderOf>>) =>
  (await holder.get('/api/v1/mailbox/two-factor')).status === 200
