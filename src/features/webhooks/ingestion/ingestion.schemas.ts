import { type Static, type TSchema, Type } from 'typebox'
import { Body, Nullable } from '../../../http/envelope.ts'

/** Mail servers send `null` for what they do not know. */
const Given = <Schema extends TSchema>(schema: Schema) => Type.Optional(Nullable(schema))

const Text = (example: string) => Given(Type.String({ maxLength: 1000, examples: [example] }))
const Count = (example: number) => Given(Type.Integer({ minimum: 0, examples: [example] }))
const Address = (example: string) => Text(example)

const Eml = Given(
  Type.String({
    description: 'The message, at least its headers',
    examples: ['Message-ID: <m1@globex.example>\r\nSubject: Hello\r\n\r\nHello'],
  }),
)

export const InboundMessage = Body({
  eml_content: Eml,
  recipient: Address('ada@acme.example'),
  sender: Address('grace@globex.example'),
  helo: Text('mx.globex.example'),
  client_ip: Text('203.0.113.9'),
  client_hostname: Text('mx.globex.example'),
  protocol: Text('smtp'),
  server: Text('mx1'),
  tls_used: Given(Type.Boolean()),
  auth_method: Text('plain'),
  spf_result: Text('pass'),
  dkim_result: Text('pass'),
  dmarc_result: Text('pass'),
  spam_score: Given(Type.Number({ examples: [0.4] })),
})
export type InboundMessage = Static<typeof InboundMessage>

export const OutboundMessage = Body({
  eml_content: Eml,
  sender: Address('ada@acme.example'),
  recipients: Given(
    Type.Array(Type.String({ maxLength: 1000 }), {
      maxItems: 1000,
      examples: [['grace@globex.example']],
    }),
  ),
  relay_host: Text('mx.globex.example'),
  queue_id: Text('4XqT0k1y5dz9v'),
  delivery_status: Text('queued'),
  delivery_delay: Given(Type.Number({ examples: [0.3] })),
  dsn_status: Text('2.0.0'),
  tls_used: Given(Type.Boolean()),
  auth_user: Text('ada@acme.example'),
  encryption_protocol: Text('TLSv1.3'),
})
export type OutboundMessage = Static<typeof OutboundMessage>

export const ImapAction = Body({
  action: Text('read'),
  user: Address('ada@acme.example'),
  mailbox: Text('INBOX'),
  message_uid: Type.Optional(
    Type.Union([Type.String({ maxLength: 40 }), Type.Integer(), Type.Null()], { examples: ['42'] }),
  ),
  message_id: Text('<m1@acme.example>'),
  subject: Text('Hello'),
  flags: Given(
    Type.Array(Type.String({ maxLength: 200 }), { maxItems: 100, examples: [['\\Seen']] }),
  ),
  size: Count(2048),
  client_ip: Text('192.0.2.7'),
  user_agent: Text('Thunderbird'),
  connection_id: Text('c1'),
})
export type ImapAction = Static<typeof ImapAction>

export const Pop3Action = Body({
  action: Text('login'),
  user: Address('ada@acme.example'),
  client_ip: Text('192.0.2.7'),
  connection_id: Text('c1'),
  messages_downloaded: Count(3),
  bytes_downloaded: Count(6144),
  session_duration: Given(Type.Number({ minimum: 0, examples: [1.5] })),
})
export type Pop3Action = Static<typeof Pop3Action>

/** The webhook body of Alertmanager, version 4; the service validates it. */
export const Alerts = Type.Object({
  receiver: Type.Optional(Type.String({ examples: ['mailplane'] })),
  groupKey: Type.Optional(Type.String({ examples: ['{}:{alertname="DiskAlmostFull"}'] })),
  externalURL: Type.Optional(Type.String({ examples: ['http://alertmanager.example'] })),
  alerts: Type.Array(Type.Object({}, { additionalProperties: true }), {
    examples: [[{ status: 'firing', labels: { alertname: 'DiskAlmostFull' }, annotations: {} }]],
  }),
})

export const AnyJson = Type.Unknown({ description: 'Comes back as `data.payload`' })

export const Queued = (message: string) =>
  Type.Object({ status: Type.Literal('success'), message: Type.Literal(message) })

export const Forwarded = Type.Object({
  status: Type.Literal('success'),
  alerts_forwarded: Type.Integer({ examples: [1] }),
})

export const Status = Type.Object({
  status: Type.Literal('active'),
  queue_size: Type.Integer({ description: 'Events that wait for their delivery' }),
  webhook_urls_configured: Type.Integer({ examples: [1] }),
  timestamp: Type.String({ format: 'date-time' }),
})
