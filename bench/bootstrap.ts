import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The first organization of a fresh installation, and a key of it. */
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
  const answer = (await response.json()) as { data: { api_key: string; organization_id: string } }
  if (!response.ok) throw new Error(`bootstrap: ${JSON.stringify(answer)}`)
  return answer.data
}
