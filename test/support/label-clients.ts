import { type App, type Client, clientOf, INTERNAL_TOKEN, newIp } from './app.ts'

export type LabelClients = Awaited<ReturnType<typeof labelClients>>

/** For each access label a client that it lets in, for a server on the database of the app. */
export async function labelClients(
  app: App,
  server: { base: string },
  tenant: Awaited<ReturnType<App['tenant']>>,
) {
  const key = await app.key(tenant.organizationId, { permissions: { admin_access: true } })
  const platformKey = await app.key(null, { scope: 'platform' })
  const owner = await app.operator('owner')
  const dashboard = await app.session('dashboard', tenant.userId)
  const mailbox = await app.session('mailbox', tenant.accountId)
  const partial = await app.session('operator', owner.id, { partial: true })
  const withJar = ({ jar }: { jar: Map<string, string> }) => clientOf(server, {}, new Map(jar))
  const withKey = clientOf(server, { 'x-api-key': key.apiKey })
  const operator = withJar(owner)
  const clients: Record<string, Client> = {
    'Dashboard session': withJar(dashboard),
    'Mailbox session': withJar(mailbox),
    'Operator session (partial)': withJar(partial),
    'Internal token': clientOf(server, { 'x-internal-token': INTERNAL_TOKEN }),
    'X-Bootstrap-Token': clientOf(server, { 'x-bootstrap-token': 'guessed' }, undefined, newIp()),
    'Platform(read)': clientOf(server, { 'x-api-key': platformKey.apiKey }),
  }
  return (label: string): Client => {
    if (label === 'None') return clientOf(server, {}, undefined, newIp())
    if (label.startsWith('Operator(')) return operator
    return clients[label] ?? withKey
  }
}
