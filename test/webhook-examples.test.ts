import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { webhooks } from '../src/daemons/webhooks.ts'
import { type App, startApp } from './support/app.ts'
import { type Received, startReceiver } from './support/receiver.ts'
import { waitFor } from './support/wait.ts'

// Runs the examples of docs/webhooks.md, unchanged, against real deliveries.
const document = readFileSync(new URL('../docs/webhooks.md', import.meta.url), 'utf8')
const SECRETS = ['a shared secret', `whsec_${Buffer.from('bytes of a key').toString('base64')}`]
const STALE_MS = 16 * 60_000

interface Language {
  name: string
  fence: string
  program: string
  file: string
  /** Reads one request from standard input and prints the result of the three checks. */
  driver(example: string): string
}

const languages: Language[] = [
  {
    name: 'Node',
    fence: 'js',
    program: process.execPath,
    file: 'example.mjs',
    driver: (example) => `${example}
import { readFileSync } from 'node:fs'
const { secret, headers, body } = JSON.parse(readFileSync(0, 'utf8'))
const raw = Buffer.from(body)
console.log(JSON.stringify([isGenuine(secret, headers, raw), isFresh(secret, raw), isStandard(secret, headers, raw)]))`,
  },
  {
    name: 'Python',
    fence: 'python',
    program: 'python3',
    file: 'example.py',
    driver: (example) => `${example}
import sys
given = json.load(sys.stdin)
secret, headers, raw = given["secret"], given["headers"], given["body"].encode()
print(json.dumps([is_genuine(secret, headers, raw), is_fresh(secret, raw), is_standard(secret, headers, raw)]))`,
  },
  {
    name: 'PHP',
    fence: 'php',
    program: 'php',
    file: 'example.php',
    driver: (example) => `<?php
${example}
['secret' => $secret, 'headers' => $headers, 'body' => $raw] = json_decode(stream_get_contents(STDIN), true);
echo json_encode([is_genuine($secret, $headers, $raw), is_fresh($secret, $raw), is_standard($secret, $headers, $raw)]);`,
  },
]

interface Sent {
  secret: string
  headers: Record<string, unknown>
  body: string
}

const folder = mkdtempSync(join(tmpdir(), 'mailplane-examples-'))
const sent: { good: Sent; stale: Sent }[] = []

beforeAll(async () => {
  for (const secret of SECRETS) sent.push(await deliver(secret))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Captures one delivery of now, and one of a daemon whose clock is 16 minutes behind. */
async function deliver(secret: string) {
  const receiver = await startReceiver()
  const app = await startApp({ env: { WEBHOOK_URL: receiver.url, WEBHOOK_SECRET: secret } })
  const tenant = await app.tenant('acme')
  const one = (description: string) =>
    nextDelivery(app, receiver.got, () =>
      tenant.put(`/api/v1/domains/${tenant.domainId}`, { description }),
    )
  try {
    const good = await one('größer – 新しい')
    app.clock.advance(-STALE_MS)
    const stale = await one('long ago')
    return { good: { secret, ...good }, stale: { secret, ...stale } }
  } finally {
    await app.stop()
    await receiver.stop()
  }
}

async function nextDelivery(app: App, got: Received[], change: () => Promise<unknown>) {
  const count = got.length
  await change()
  const daemon = await webhooks.start(app.core)
  await waitFor(() => got.length > count)
  await daemon.stop()
  const { headers, body } = got.at(-1) as Received
  return { headers, body }
}

describe.each(languages)(
  'webhook verification example in $name',
  ({ fence, program, file, driver }) => {
    const isThere = spawnSync(program, ['--version']).status === 0
    const path = join(folder, file)

    beforeAll(() => {
      const [, example] = new RegExp(`\n\`\`\`${fence}\n([^]*?)\n\`\`\`\n`).exec(document) ?? []
      if (example === undefined) throw new Error(`docs/webhooks.md has no example in ${fence}`)
      writeFileSync(path, driver(example))
    })

    /**
     * Returns the results of the example for the signature header, the block inside, and Standard
     * Webhooks.
     */
    const checks = (request: Sent): boolean[] => {
      const { status, stdout, stderr } = spawnSync(program, [path], {
        input: JSON.stringify(request),
        encoding: 'utf8',
      })
      if (status !== 0) throw new Error(stderr || stdout)
      return JSON.parse(stdout)
    }
    const test = it.skipIf(!isThere)
    const named = (promise: string) =>
      isThere ? promise : `${promise} (${program} is not installed)`

    test(named('accepts a real delivery'), () => {
      for (const { good } of sent) expect(checks(good)).toEqual([true, true, true])
    })

    test(named('rejects modified content where the content is signed'), () => {
      for (const { good } of sent) {
        const body = good.body.replace('acme.test', 'evil.test')
        expect(body).not.toBe(good.body)
        expect(checks({ ...good, body })).toEqual([false, true, false])
      }
    })

    test(named('rejects a modified signature block'), () => {
      for (const { good } of sent) {
        const { token } = JSON.parse(good.body).signature
        const body = good.body.replace(
          token,
          token.replace(/^./, (c: string) => (c === '0' ? '1' : '0')),
        )
        expect(checks({ ...good, body })).toEqual([false, false, false])
      }
    })

    test(named('rejects a delivery older than 15 minutes where the time is signed'), () => {
      for (const { stale } of sent) expect(checks(stale)).toEqual([true, false, false])
    })

    test(named('rejects a wrong secret and a request without signatures'), () => {
      for (const { good } of sent) {
        expect(checks({ ...good, secret: 'another secret' })).toEqual([false, false, false])
        expect(checks({ ...good, headers: {} })).toEqual([false, true, false])
      }
    })
  },
)
