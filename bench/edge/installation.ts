import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bootstrap } from '../bootstrap.ts'
import { type Started, stopAll } from '../servers.ts'
import { startMailplane } from '../webhooks/mailplane.ts'

export type Installation = Awaited<ReturnType<typeof begin>>

/** Runs the work on a fresh installation with one domain and removes its folder afterwards. */
export async function withInstallation<Result>(
  environment: Record<string, string>,
  work: (installation: Installation) => Promise<Result>,
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'mailplane-edge-'))
  const started: Started[] = []
  try {
    const installation = await begin(folder, environment, started)
    try {
      return await work(installation)
    } finally {
      await installation.database.close()
    }
  } finally {
    await stopAll(started)
    rmSync(folder, { recursive: true, force: true })
  }
}

async function begin(folder: string, environment: Record<string, string>, started: Started[]) {
  const dataDir = join(folder, 'data')
  const { server, database } = await startMailplane(dataDir, environment, started)
  const { api_key, organization_id } = await bootstrap(server.url, dataDir)
  /** Sends the API key of the organization unless the headers contain another credential. */
  const call = async (
    method: string,
    path: string,
    body: object,
    headers: Record<string, string> = { 'x-api-key': api_key },
  ) => {
    const response = await fetch(`${server.url}/api/v1${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    const answer = (await response.json()) as { data: Record<string, string> }
    if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`)
    return answer
  }
  const [domain] = await database.sql<{ id: string; domain: string }[]>`
    select id, domain from domains where organization_id = ${organization_id}`
  if (!domain) throw new Error('the bootstrap has made no domain')
  return {
    folder,
    dataDir,
    started,
    server,
    database,
    call,
    domain,
    organizationId: organization_id,
  }
}

export type Credential = { username: string; hourlyLimit: number | null }

/** Inserts all credentials with one secret hash: hashing each secret would take minutes. */
export const insertCredentials = (
  { database, domain, organizationId }: Installation,
  credentials: readonly Credential[],
  hash: string,
) => database.sql`
  insert into smtp_credentials
    (id, organization_id, domain_id, username, secret_hash, hourly_limit)
  select 'bench-' || username, ${organizationId}, ${domain.id}, username, ${hash}, hourly_limit
  from jsonb_to_recordset(${database.sql.json(
    credentials.map(({ username, hourlyLimit }) => ({ username, hourly_limit: hourlyLimit })),
  )}) as given (username text, hourly_limit int)`

export const say = (text: string) => process.stdout.write(`${text}\n`)
