interface Schema {
  $ref?: string
  properties?: Record<string, { type?: string | string[]; items?: object }>
}

const SIZE = 900 * 1024

/** Bodies of almost 1 MB that are expensive to parse, to validate or to report as wrong. */
export function hostileBodies({ properties = {} }: Schema): Record<string, string> {
  const fields = Object.entries(properties)
  const list = fields.find(([, { type }]) => [type].flat().includes('array'))?.[0]
  const text = fields.find(([, { type }]) => [type].flat().includes('string'))?.[0]
  const zeros = `[${'0,'.repeat(95_000)}0]`
  return {
    'many wrong fields': `{${Array.from({ length: 25_000 }, (_, i) => `"${i}":0`).join()}}`,
    ...(text && { 'a long text': JSON.stringify({ [text]: `${'a@'.repeat(SIZE / 2)}` }) }),
    ...(list && {
      'many wrong entries': `{"${list}":${zeros}}`,
      'many empty entries': `{"${list}":[${'{},'.repeat(25_000)}{}]}`,
    }),
  }
}

/** Query strings as long as the HTTP parser accepts. */
export function hostileQueries(parameters: readonly { name: string; in: string }[]): string[] {
  const names = parameters.filter((one) => one.in === 'query').map(({ name }) => name)
  if (names.length === 0) return []
  const each = Math.floor(12_000 / names.length)
  return [names.map((name) => `${name}=${'a%25'.repeat(each / 4)}`).join('&')]
}

interface HostileRequest {
  name: string
  label: string
  method: string
  path: string
  body: unknown
  /** A regular expression of expected statuses. */
  status: string
}

const RULES = '/api/v1/mailbox/rules'
const TRANSPORT = '/api/v1/transport-rules/'
const lettersOf = (length: number): string => {
  let state = 7
  let text = ''
  for (let i = 0; i < length; i++) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    text += state % 65_536 < 32_768 ? 'a' : 'b'
  }
  return text
}
const rulesWith = (value: string, rules: number, conditions: number) =>
  Array.from({ length: rules }, () => ({
    match: 'any',
    conditions: Array(conditions).fill({ field: 'body', operator: 'matches', value }),
    actions: [{ type: 'flag' }],
  }))

/** Requests that once stopped the process, and worse ones. */
export function hostileRequests({ organizationId }: { organizationId: string }): HostileRequest[] {
  const mailbox = (name: string, body: object, status: string): HostileRequest => ({
    name,
    label: 'Mailbox session',
    method: 'POST',
    path: `${RULES}/test`,
    body,
    status,
  })
  const transportRule = (name: string, value: string, conditions = 1): HostileRequest => ({
    name,
    label: 'Key(write)',
    method: 'POST',
    path: TRANSPORT,
    body: {
      name,
      condition_logic: 'any',
      conditions: Array(conditions).fill({ field: 'subject', operator: 'regex', value }),
      actions: [{ type: 'add_disclaimer', params: { text: 'a', html: '<b>a</b>' } }],
    },
    status: '201|409|422',
  })
  const trial = (name: string, message: string): HostileRequest => ({
    name,
    label: 'Key(read)',
    method: 'POST',
    path: `${TRANSPORT}test`,
    body: { sender: 'a@b.test', recipients: ['c@d.test'], message },
    status: '200|422',
  })
  const body = 'a'.repeat(200_000)
  return [
    mailbox(
      'S3: 20 wildcard conditions on 200 kB',
      { body, rules: rulesWith(`*${'a'.repeat(1900)}b*`, 1, 20) },
      '200',
    ),
    mailbox(
      'S3: stars between letters',
      { body, rules: rulesWith('*a'.repeat(990), 50, 1) },
      '200|422',
    ),
    mailbox(
      'S3: question marks',
      { body, rules: rulesWith(`*${'a?'.repeat(900)}b*`, 10, 10) },
      '200|422',
    ),
    mailbox('S3: many addresses', { from: 'a@b.test,'.repeat(1000), rules: [] }, '200'),
    transportRule('S4: a counted repetition', '[ab]*a[ab]{300}z'),
    transportRule('S4: counted repetitions', '[ab]*a[ab]{200}[ab]{200}z', 40),
    transportRule('S4: classes of letters', '\\pL'.repeat(300), 50),
    trial('S4: a subject that no rule matches', `Subject: ${lettersOf(8000)}\r\n\r\n`),
    trial('S4: many subjects', `Subject: ${lettersOf(4000)}\r\n`.repeat(100)),
    trial('a deep message', deepMessage()),
    trial(
      'many parts',
      `Content-Type: multipart/mixed; boundary=x\r\n\r\n${'--x\r\n\r\n'.repeat(60_000)}`,
    ),
    trial('many fields', 'a:\r\n'.repeat(120_000)),
    trial('a long HTML text', `Content-Type: text/html\r\n\r\n${'<p><b>'.repeat(80_000)}`),
    {
      name: 'expensive expressions of a DLP policy',
      label: 'Operator(admin+)',
      method: 'POST',
      path: '/api/v1/security/dlp/policies',
      body: {
        organization_id: organizationId,
        name: 'expensive',
        policy_type: 'regex',
        patterns: Array.from({ length: 200 }, (_, index) => `${'\\pL'.repeat(300)}${index}`),
        reason: 'test',
      },
      status: '201|422',
    },
    whitelabel('custom_css', 'a{b:c;}'.repeat(14_000), organizationId),
    whitelabel('custom_css', '@media x{'.repeat(11_000), organizationId),
    whitelabel('custom_css', `a{b:${'calc('.repeat(19_000)}}`, organizationId),
    whitelabel('login_page_html', '<b style="color:red;">'.repeat(4500), organizationId),
    whitelabel('login_page_html', '<a '.repeat(33_000), organizationId),
    whitelabel('footer_html', '&'.repeat(100_000), organizationId),
  ]
}

const whitelabel = (field: string, value: string, organizationId: string): HostileRequest => ({
  name: `whitelabel ${field} of ${value.length} characters`,
  label: 'Operator(admin+)',
  method: 'PUT',
  path: `/api/v1/whitelabel/config/${organizationId}`,
  body: { [field]: value, reason: 'test' },
  status: '200|400|422',
})

function deepMessage(): string {
  const lines = Array.from(
    { length: 60 },
    (_, depth) => `Content-Type: multipart/mixed; boundary=b${depth}\r\n\r\n--b${depth}\r\n`,
  )
  return `${lines.join('')}${'--b'.repeat(100_000)}`
}
