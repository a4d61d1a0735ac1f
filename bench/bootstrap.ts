import { readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Bootstrapped {
  api_key: string
  organization_id: string
  mailbox: string
}

/** Creates the first organization of a fresh installation and returns its id and API key. */
export async function bootstrap(url: string, dataDir: string) {
  const token = readFileSync(join(dataDir, 'bootstrap-token'), 'utf8').trim()
  const body = {
    organization_name: 'Bench',
    admin_email: 'admin@bench.example',
    admin_password: 'a-long-passphrase-1',
  }
  const response = await fetch(`${url}/api/v1/bootstrap/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-bootstrap-token': token },
    body: JSON.stringify(body),
  })
  const answer = (await response.json()) as { data: Bootstrapped }
  if (!response.ok) throw new Error(`bootstrap: ${JSON.stringify(answer)}`)
  return { ...answer.data, password: body.admin_password }
}
