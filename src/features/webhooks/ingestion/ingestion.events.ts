import { Type } from 'typebox'
import { defineEvent } from '../../../events/events.ts'
import { Nullable } from '../../../http/envelope.ts'

const MESSAGE_ID = { examples: ['<m1@acme.example>'] }
const Message = {
  message_id: Nullable(Type.String(MESSAGE_ID)),
  from: Nullable(Type.String({ examples: ['grace@globex.example'] })),
}
const Verdict = Nullable(Type.String({ examples: ['pass'] }))

export const EmailInbound = defineEvent('email.inbound', {
  source: 'postfix',
  reported: true,
  summary: 'A mail server took a message for a mailbox here',
  data: Type.Object({
    ...Message,
    to: Nullable(Type.String({ examples: ['ada@acme.example'] })),
    subject: Nullable(Type.String({ examples: ['Hello'] })),
    size: Type.Integer({ description: 'Bytes', examples: [2048] }),
    has_attachments: Type.Boolean(),
    spam_score: Type.Number({ examples: [0.4] }),
    tls_used: Type.Boolean(),
    spf_result: Verdict,
    dkim_result: Verdict,
    dmarc_result: Verdict,
  }),
})

export const EmailOutbound = defineEvent('email.outbound', {
  source: 'postfix',
  reported: true,
  summary: 'A message from here was handed to a mail server',
  data: Type.Object({
    ...Message,
    to: Type.Array(Type.String(), { examples: [['grace@globex.example']] }),
    subject: Nullable(Type.String({ examples: ['Hello'] })),
    size: Type.Integer({ description: 'Bytes', examples: [2048] }),
    queue_id: Nullable(Type.String({ examples: ['4XqT0k1y5dz9v'] })),
    delivery_status: Type.String({ examples: ['queued'] }),
    tls_used: Type.Boolean(),
  }),
})

const Touched = Type.Object({
  user: Nullable(Type.String({ examples: ['ada@acme.example'] })),
  mailbox: Nullable(Type.String({ description: 'The folder', examples: ['INBOX'] })),
  message_uid: Nullable(Type.String({ examples: ['42'] })),
  message_id: Nullable(Type.String(MESSAGE_ID)),
  action: Type.String({ examples: ['read'] }),
  flags: Type.Array(Type.String(), { examples: [['\\Seen']] }),
})
const touched = (name: string, summary: string) =>
  defineEvent(name, { source: 'dovecot', reported: true, summary, data: Touched })

/** By the word that the mail server has for it. */
export const imapEvents = new Map(
  Object.entries({
    read: touched('email.read', 'A message was read'),
    delete: touched('email.deleted', 'A message was deleted'),
    move: touched('email.moved', 'A message was moved to another folder'),
    copy: touched('email.copied', 'A message was copied to another folder'),
    flag: touched('email.flagged', 'A message was given a flag'),
    unflag: touched('email.unflagged', 'A flag was taken from a message'),
  }),
)
export const OtherImapEvent = touched(
  'email.imap.*',
  'Something else happened to a message; the last word of the name says what',
)

const Pop3Session = Type.Object({
  user: Nullable(Type.String({ examples: ['ada@acme.example'] })),
  action: Type.String({ examples: ['login'] }),
  messages_downloaded: Type.Integer({ examples: [3] }),
  bytes_downloaded: Type.Integer({ examples: [6144] }),
  session_duration: Type.Number({ description: 'Seconds', examples: [1.5] }),
})
const pop3 = (name: string, summary: string) =>
  defineEvent(name, { source: 'dovecot', reported: true, summary, data: Pop3Session })

export const pop3Events = new Map(
  Object.entries({
    login: pop3('pop3.session.start', 'A user signed in over POP3'),
    download: pop3('pop3.messages.downloaded', 'Messages were fetched over POP3'),
    logout: pop3('pop3.session.end', 'A POP3 session ended'),
  }),
)
export const OtherPop3Event = pop3(
  'email.pop3.*',
  'Something else happened in a POP3 session; the last word of the name says what',
)

const Words = (example: object) =>
  Type.Record(Type.String(), Type.String(), { examples: [example] })
const Alert = Type.Object({
  alertname: Type.String({ examples: ['DiskAlmostFull'] }),
  severity: Type.String({ examples: ['warning'] }),
  status: Type.String({ examples: ['firing'] }),
  summary: Type.String({ examples: ['A disk is almost full'] }),
  description: Type.String({ examples: ['/var is at 91 %'] }),
  labels: Words({ alertname: 'DiskAlmostFull', severity: 'warning' }),
  annotations: Words({ summary: 'A disk is almost full' }),
  starts_at: Nullable(Type.String({ examples: ['2026-11-15T09:30:00Z'] })),
  ends_at: Nullable(Type.String({ examples: ['0001-01-01T00:00:00Z'] })),
  generator_url: Type.String({ examples: ['http://prometheus.example/graph'] }),
  fingerprint: Type.String({ examples: ['b2c3d4e5f6a70819'] }),
  receiver: Type.String({ examples: ['mailplane'] }),
  group_key: Type.String({ examples: ['{}:{alertname="DiskAlmostFull"}'] }),
  external_url: Type.String({ examples: ['http://alertmanager.example'] }),
})
const alert = (name: string, summary: string) =>
  defineEvent(name, { source: 'alertmanager', reported: true, summary, data: Alert })

export const AlertFiring = alert('system.alert.firing', 'An alert of the monitoring went off')
export const AlertResolved = alert('system.alert.resolved', 'An alert of the monitoring is over')
