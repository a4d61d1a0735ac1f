import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import bcrypt from 'bcrypt'
import { parseSource, renderParsed } from '../../src/features/templates/engine/liquid.ts'
import { message, openSmtp } from '../../test/support/smtp-client.ts'
import { startSink } from '../../test/support/smtp-sink.ts'
import { cpuMs } from '../clients/cpu.ts'
import { type Installation, insertCredentials, withInstallation } from '../edge/installation.ts'
import type { Row } from '../parts.ts'
import { median } from '../report.ts'

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
const RENDERS = 20_000
const RENDER_AIM = 5000
const ATTACK_AIM_MS = 100
const SENDING_AIM = 0.8
const MESSAGES = 400
const ROUNDS = 3
const AT_ONCE = 8
const SECRET = 'a-secret-of-some-length'

/** Rendering, attacks on it, and sending by API beside SMTP submission on the same edge. */
export default async (): Promise<Row[]> => [rendering(), attacks(), ...(await sending())]

/** A mail of ten lines about an order. */
const ORDER = {
  subject_template: 'Your order {{ number }}',
  html: [
    '<h1>Thank you, {{ name }}</h1>',
    '<p>Your order {{ number }} of {{ date }} is on its way.</p>',
    '<table>{% for item in items %}',
    '<tr><td>{{ item.name }}</td><td>{{ item.price }}</td></tr>',
    '{% endfor %}</table>',
    '<p>Total: {{ total }}</p>',
    '{% if note %}<p>{{ note }}</p>{% endif %}',
    '<p><a href="{{ link | url }}">Follow it</a></p>',
    '<p>{{ company }}</p>',
    '<p>{{ address }}</p>',
  ].join('\n'),
  plaintext_content: '',
}
const VARIABLES = {
  name: 'Jane',
  number: 4711,
  date: '2026-11-17',
  items: Array.from({ length: 5 }, (_, at) => ({ name: `Thing ${at}`, price: `${at}.00` })),
  total: '10.00',
  link: 'https://acme.example/orders/4711',
  company: 'Acme',
  address: '1 Main Street',
}

function rendering(): Row {
  const parsed = parseSource(ORDER)
  const render = () => renderParsed(parsed, VARIABLES, { format: 'html', strict: true })
  for (let at = 0; at < RENDERS / 10; at++) render()
  const begin = cpuMs(process.pid)
  for (let at = 0; at < RENDERS; at++) render()
  const rate = (RENDERS * 1000) / (cpuMs(process.pid) - begin)
  return {
    what: 'renders of the order a second and core',
    value: String(Math.round(rate)),
    aim: `${RENDER_AIM}`,
  }
}

const many = Array.from({ length: 40_000 }, (_, at) => at)
const ATTACKS: [template: string, variables: object][] = [
  ['{% for i in (1..1000000000) %}x{% endfor %}', {}],
  ['{% for i in a %}{% for j in a %}{% endfor %}{% endfor %}', { a: many }],
  [
    '{% assign s = "xxxxxxxxxx" %}{% for i in (1..60) %}{% assign s = s | append: s %}{% endfor %}',
    {},
  ],
  ['{% assign a = (1..3000000) | sort %}', {}],
  ['{% for i in (1..9999) %}{% assign b = a | sort_natural %}{% endfor %}', { a: many }],
  ['{{ "now" | date: "%99999999Y" }}', {}],
  [`{% for i in (1..9999) %}${'x'.repeat(100_000)}{% endfor %}`, {}],
]

function attacks(): Row {
  const times = ATTACKS.map(([html, variables]) => {
    const parsed = parseSource({ ...ORDER, html })
    const begin = performance.now()
    try {
      renderParsed(parsed, variables, { format: 'html', strict: false })
      throw new Error('an attack was not refused')
    } catch (error) {
      if (!/too (long|much)/.test(String(error))) throw error
    }
    return performance.now() - begin
  })
  return {
    what: `the longest of ${times.length} attacks`,
    value: `${Math.max(...times).toFixed(0)} ms`,
    aim: `ends at the limit of ${ATTACK_AIM_MS} ms`,
  }
}

async function sending(): Promise<Row[]> {
  const sink = await startSink()
  const unlimited = Object.fromEntries(
    ['MAILBOX', 'DOMAIN', 'ORG'].flatMap((name) =>
      ['SECOND', 'MINUTE', 'HOURLY', 'DAILY', 'MONTHLY'].map((time) => [
        `${name}_OUTBOUND_${time}_DEFAULT`,
        '1000000',
      ]),
    ),
  )
  const environment = { EDGE_RELAY_HOST: sink.host, ...unlimited }
  try {
    return await withInstallation(environment, async (installation) => {
      const edge = (verb: string, ...more: string[]) => {
        const env = { PATH: process.env.PATH, DATA_DIR: installation.dataDir, ...environment }
        const ran = spawnSync(process.execPath, [MAIN, 'edge', verb, ...more], { env })
        if (ran.status !== 0) throw new Error(`edge ${verb}: ${ran.stderr}`)
        return String(ran.stdout)
      }
      const { submission } = JSON.parse(edge('up', '--json'))
      try {
        return await compare(installation, submission.port)
      } finally {
        edge('down', '--delete')
      }
    })
  } finally {
    await sink.stop()
  }
}

async function compare(installation: Installation, port: number): Promise<Row[]> {
  const hash = await bcrypt.hash(SECRET, 4)
  await insertCredentials(installation, [{ username: 'bench', hourlyLimit: null }], hash)
  const rates = { smtp: [] as number[], api: [] as number[], template: [] as number[] }
  for (let round = 0; round <= ROUNDS; round++) {
    const measured = {
      smtp: await perSecond(() => bySmtp(installation, port)),
      api: await perSecond(() => byApi(installation)),
      template: await perSecond(() => byTemplate(installation)),
    }
    // The first round warms up.
    if (round === 0) continue
    for (const way of ['smtp', 'api', 'template'] as const) rates[way].push(measured[way])
  }
  const smtp = median(rates.smtp)
  const row = (what: string, rate: number): Row => ({
    what,
    value: `${rate.toFixed(1)} a second, ${(rate / smtp).toFixed(2)} of SMTP`,
    aim: String(SENDING_AIM),
  })
  return [
    {
      what: `SMTP submission, ${AT_ONCE} connections`,
      value: `${smtp.toFixed(1)} messages a second`,
    },
    row(`the same by API, ${AT_ONCE} requests at once`, median(rates.api)),
    row('the same by template, one request', median(rates.template)),
  ]
}

async function perSecond(work: () => Promise<void>): Promise<number> {
  const begin = performance.now()
  await work()
  return (MESSAGES * 1000) / (performance.now() - begin)
}

const inLanes = (work: (at: number, lane: number) => Promise<unknown>) =>
  Promise.all(
    Array.from({ length: AT_ONCE }, async (_, lane) => {
      for (let at = lane; at < MESSAGES; at += AT_ONCE) await work(at, lane)
    }),
  )

const SUBJECT = 'Your order 4711'
const TEXT = 'Thank you for your order.\n'.repeat(80)
const recipient = (at: number) => `reader-${at}@outside.test`

async function bySmtp({ domain }: Installation, port: number): Promise<void> {
  const from = `orders@${domain.domain}`
  const clients = await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      const client = await openSmtp({ port })
      await client.startTls()
      await client.auth('bench', SECRET)
      return client
    }),
  )
  await inLanes(async (at, lane) => {
    const to = recipient(at)
    const text = message(from, to, SUBJECT, TEXT)
    const reply = await clients[lane]?.send({ from, to, text })
    if (reply?.code !== 250) throw new Error(`submission: ${reply?.text}`)
  })
  for (const client of clients) client.quit()
}

/** Until Postfix has accepted every message. */
async function byApi(installation: Installation): Promise<void> {
  const from = `orders@${installation.domain.domain}`
  await inLanes((at) =>
    installation.call('POST', '/messages/', {
      from,
      to: [recipient(at)],
      subject: SUBJECT,
      text: TEXT,
    }),
  )
  await handedOver(installation)
}

let templateId: string | undefined

async function byTemplate(installation: Installation): Promise<void> {
  templateId ??= (
    await installation.call('POST', '/templates/', {
      name: 'Order',
      subject_template: SUBJECT,
      html_content: '',
      plaintext_content: TEXT,
    })
  ).data.id as string
  await installation.call('POST', `/templates/${templateId}/send`, {
    from: `orders@${installation.domain.domain}`,
    recipients: Array.from({ length: MESSAGES }, (_, at) => ({ to: recipient(at) })),
  })
  await handedOver(installation)
}

async function handedOver({ database }: Installation): Promise<void> {
  for (;;) {
    const [row] = await database.sql<{ waiting: number; failed: number }[]>`
      select count(*)::int as waiting, count(failed_at)::int as failed from outgoing_messages`
    if (row?.failed) throw new Error('the mail server refuses messages')
    if (row?.waiting === 0) return
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
